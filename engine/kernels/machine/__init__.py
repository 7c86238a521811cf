"""Object code loaded and called.

code               loading it, and calling it
record, frames,    what a kernel shares with its host; calls that use it again; memory that waits for the next call
  spare
externals          functions of libraries that kernels call
usual, settled     calls again and again, of results that are as most are; the look at these
door, door_code    such calls by machine code, from a point in Python to results in Python
written            machine code that is no program's: written by hand, compiled once
threads, failures  kernels that signals and limits end; errors in the words of the tape
"""
