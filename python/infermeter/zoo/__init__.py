"""The models of the zoo as each framework's own definition of them, all with the weights of the zoo's ONNX files."""
