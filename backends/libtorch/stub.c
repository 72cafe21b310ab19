/* Nothing: CMakeLists.txt says what for. */
typedef int infermeter_libtorch_stub;
