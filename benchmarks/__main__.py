"""make bench: everything, one part after the other; results in benchmarks/results/*.json."""

import sys

from benchmarks import identify, spectrum

if __name__ == "__main__":
    identify.main(sys.argv[1:])
    spectrum.main()
