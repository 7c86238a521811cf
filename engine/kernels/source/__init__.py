"""IR as Python source, as one would write it by hand for a compiler of numbers.

emit               kernels, and their loops and branches; the printer is made of
  naming           ... names of variables, and the kinds of what they hold
  lines            ... lines, and values that wait for the line that reads them
  stores           ... memory, and what leaves a kernel
usage              what a kernel reads once, and what it need not bring back
legend             what a source names beside its own variables
primitives         the text of each scalar row
prelude, helpers   the functions that such text calls; where they are found
over_rows          a kernel in a loop over the rows of a table
"""
