"""What zstd and zlib packed, unpacked within a limit: few bytes can become gigabytes."""

import zlib
from functools import cache
from typing import Any

ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
_GZIP_MAGIC = b'\x1f\x8b'


@cache
def zstd() -> Any:
    """Return the module of zstd: Python's own from 3.14 on."""
    try:
        from compression import zstd as module  # type: ignore[import-not-found]
    except ImportError:
        from backports import zstd as module
    return module


def unpacked(data: bytes, most: int) -> bytes:
    """Return the contents of what begins as zstd or gzip.

    :param most: bytes, at most
    :raises ValueError: it is neither, is damaged, or is more than that
    """
    try:
        if data.startswith(ZSTD_MAGIC):
            unpacker = zstd().ZstdDecompressor()
            content: bytes = unpacker.decompress(data, most + 1)
            whole = unpacker.eof
        elif data.startswith(_GZIP_MAGIC):
            inflater = zlib.decompressobj(zlib.MAX_WBITS + 16)
            content, whole = inflater.decompress(data, most + 1), inflater.eof
        else:
            raise ValueError('it is packed neither by zstd nor by gzip')
    except (zlib.error, zstd().ZstdError) as error:
        raise ValueError(f'what is packed in it is damaged: {error}') from error
    if len(content) > most:
        raise ValueError(f'what is packed in it is more than the {most} bytes that are taken')
    if not whole:
        raise ValueError('what is packed in it is cut off')
    return content
