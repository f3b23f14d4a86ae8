"""The unit of work: one Aᵀy by numpy or scipy on this machine, now."""
import time

import numpy as np


def transpose_product_seconds(A, rounds=9):
    y = np.linspace(-1.0, 1.0, A.shape[0])
    transposed = A.T
    transposed @ y
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        transposed @ y
        times.append(time.perf_counter() - began)
        if sum(times) > 2.0 and len(times) >= 3:
            break
    return float(np.median(times))
