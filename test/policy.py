"""The policy of SROS 2, with what its files include, as sros2 reads it by lxml."""

from pathlib import Path
from xml.etree import ElementTree

POLICY = Path(__file__).resolve().parents[1] / 'config' / 'sros2' / 'policy.xml'
_INCLUDE = '{http://www.w3.org/2001/XInclude}include'


def policy() -> ElementTree.Element:
    """Return the policy; of an included file its root's children stand in place of what names it."""
    root = ElementTree.parse(POLICY).getroot()
    for profile in root.iter('profile'):
        for include in profile.findall(_INCLUDE):
            assert include.get('xpointer') == 'xpointer(/profile/*)'
            profile.extend(ElementTree.parse(POLICY.with_name(include.get('href') or '')).getroot())
            profile.remove(include)
    return root
