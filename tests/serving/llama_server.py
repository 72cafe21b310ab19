"""llama.cpp's own server, in a process of its own: python llama_server.py FOLDER FILE serves the zoo's language model in FOLDER, which it writes to
FILE as GGUF, and prints its address. It ends with its standard input."""

import sys
from pathlib import Path

import xllamacpp
from infermeter.zoo.gguf_llama import write

folder, file = map(Path, sys.argv[1:])
write(folder, file, folder.name)
params = xllamacpp.CommonParams()
params.model.path = str(file)
params.model_alias = [folder.name, "another-name"]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_parallel = 2
params.n_ctx = 1024  # of both together
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
