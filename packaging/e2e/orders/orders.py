"""Prints digests of the orders of PyTorch's samplers, a line for each case.

orders.py cases            a line for each case: items, seed, epoch, rank, world (0: RandomSampler), and how
orders.py digests          the same lines, each with the digest of the order, an index a line
"""

import hashlib
import sys

SIZES = [1, 2, 1000, 999_983, 1_000_000]
SEEDS = [0, 42, -1, 2**32 + 5, 2**64 - 1]


def cases():
    """Every size with every seed; worlds from 1 to 8 with their first, last and one more rank."""
    for n in SIZES:
        for seed in SEEDS:
            for epoch in (0, 1, 3):
                yield n, seed, epoch, 0, 0, "shuffle"
        yield n, 0, 0, 0, 0, "no-shuffle"
        for world in range(1, 9):
            for rank in sorted({0, world // 2, world - 1}):
                for how in ("shuffle", "shuffle,drop-last", "no-shuffle", "no-shuffle,drop-last"):
                    yield n, 42 + world, rank, rank, world, how


def order(n, seed, epoch, rank, world, how):
    """What torch itself reads, with the samplers as a training makes them."""
    import torch
    from torch.utils.data import DistributedSampler, RandomSampler, SequentialSampler

    data = range(n)
    shuffle = "no-shuffle" not in how
    if world:
        sampler = DistributedSampler(
            data, num_replicas=world, rank=rank, shuffle=shuffle, seed=seed, drop_last="drop-last" in how
        )
        sampler.set_epoch(epoch)
        return list(sampler)
    if not shuffle:
        return list(SequentialSampler(data))
    generator = torch.Generator()
    generator.manual_seed(seed)
    sampler = RandomSampler(data, generator=generator)
    for _ in range(epoch):
        list(sampler)
    return list(sampler)


def digest(indices):
    """Of an index a line, as a list of numbered names gives."""
    return hashlib.sha256("".join(f"{i}\n" for i in indices).encode()).hexdigest()


if __name__ == "__main__":
    for case in cases():
        print(*case, *([digest(order(*case))] if sys.argv[1] == "digests" else []), flush=True)
