import sys

if sys.argv[0].endswith("adiff"):  # the command itself: a Ctrl-C before it listens ends it without a word
    from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal  # type: ignore[import-not-found]

    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, SIG_DFL)
