"""
Models with random weights, for tests and for measuring speed: what they make is noise.

Nothing is downloaded. The same call writes the same bytes, on the same libraries and the same kind of device.
"""

from .adapters import build_ip_adapter, build_lora
from .models import build
from .sizes import KINDS, SIZES, Kind, Size

__all__ = ['KINDS', 'SIZES', 'Kind', 'Size', 'build', 'build_ip_adapter', 'build_lora']
