# In this process, a fork itself.
# line: 6


def work():
    raise RuntimeError(
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use "
        "the 'spawn' start method"
    )


work()
