import numpy as np
from numpy.typing import NDArray

__version__: str

def group_rows(X: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
