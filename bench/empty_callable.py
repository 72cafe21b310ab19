"""What costs nothing, called from Python: the subject `empty_callable.py:make` of the back end `python`, and its peer.

usage: empty_callable.py ITERATIONS   prints the seconds of an iteration of a bare loop around the same callable
"""
import sys
import time

import numpy as np

RESULT = np.zeros(1, np.float32)


def empty(array):
    return RESULT


def make():
    return empty


def bare_loop_s(iterations):
    argument = np.zeros((1, 1), np.float32)
    now, begins, ends = time.perf_counter_ns, [], []
    for _ in range(iterations):
        begin = now()
        empty(argument)
        ends.append(now())
        begins.append(begin)
    return (ends[-1] - begins[0]) / iterations / 1e9


if __name__ == "__main__":
    print(f"{bare_loop_s(int(sys.argv[1])):.12f}")
