"""What a browser is told to refuse, with every answer; each word is explained in docs/security.md."""

from collections.abc import Iterable

_POLICY = {
    b'content-security-policy': b"default-src 'self'; base-uri 'none'; form-action 'self'; "
    b"frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    b'cross-origin-opener-policy': b'same-origin',
    b'cross-origin-resource-policy': b'same-origin',
    b'permissions-policy': b'microphone=(self), camera=(), geolocation=(), display-capture=()',
    b'referrer-policy': b'no-referrer',
    b'x-content-type-options': b'nosniff',
}


def with_policy(headers: Iterable[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with those of the policy, which nothing overrides.

    :param headers: names in lower case
    :param path: that was asked for; what the API says is not kept by anybody unless it says so itself
    """
    kept = [header for header in headers if header[0] not in _POLICY]
    if path.startswith(('/api', '/mcp')) and b'cache-control' not in dict(kept):
        kept.append((b'cache-control', b'no-store'))
    return [*kept, *_POLICY.items()]
