"""`python -m tests.mutation`."""

import sys

from tests.mutation.campaign import main

sys.exit(main())
