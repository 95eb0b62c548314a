"""Forgetting: memories that are deleted for good, by conditions that also hold for what comes later."""

from typing import Annotated

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.fields import Names, Text, word
from remembr_ros.forms.scope import SourceForm
from remembr_ros.memory.model.recall import ANYTHING, Scope


class ForgetForm(SourceForm):
    """Delete memories, their pictures and the answers that rest on them, for good. The conditions combine
    with "and"; at least one is needed. They hold for what was captioned before and comes later, too."""

    id: Annotated[Names, word('only this memory; several: any of these', '8c1f0d', 'ids memory_id')] = ()
    text: Annotated[Text, word('only what has this in its caption or texts, in any case', 'Anna')] = ''
    dry_run: Annotated[bool, word('delete nothing, tell what would go', True)] = False

    def conditions(self) -> tuple[list[str] | None, Scope, str]:
        """Return ids (None: whatever they are), scope, and part of the text, as a store takes them.

        :raises InvalidRequest: there is no condition, or one that makes no sense
        """
        if self.text and not self.text.strip():
            raise InvalidRequest('text is blank, which nearly every memory has; leave it out')
        scope = self.scope()
        if scope == ANYTHING and not self.id and not self.text:
            raise InvalidRequest(
                'nothing says what to forget; give id, text, after, before, near with radius, place, robot, '
                'map or source: forgetting everything has to be said'
            )
        return list(self.id) or None, scope, self.text
