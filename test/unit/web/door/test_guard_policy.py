from remembr_ros.web.door.guard import with_policy


def test_the_policy_has_no_exception_and_nothing_overrides_it() -> None:
    headers = with_policy(
        [(b'content-security-policy', b"script-src 'unsafe-inline'"), (b'etag', b'"1"')], '/'
    )
    policy = dict(headers)[b'content-security-policy']
    assert policy == (
        b"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none';"
        b" require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert b'unsafe' not in policy
    assert len(headers) == len(dict(headers)) == 7
    assert dict(headers)[b'etag'] == b'"1"'


def test_what_the_api_says_is_kept_by_nobody_unless_it_says_so() -> None:
    assert dict(with_policy([], '/api/recall'))[b'cache-control'] == b'no-store'
    kept = with_policy([(b'cache-control', b'private, immutable')], '/api/pictures/a.jpg')
    assert dict(kept)[b'cache-control'] == b'private, immutable'
    assert b'cache-control' not in dict(with_policy([], '/page/main.js'))
