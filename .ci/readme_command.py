"""Print the README's first or second command: the set-up that a newcomer is promised."""

import re
import sys
from pathlib import Path

blocks = re.findall(r"^```sh\n(.*?)^```", Path("README.md").read_text(encoding="utf-8"), re.M | re.S)
print(blocks[int(sys.argv[1]) - 1].strip())
