// A decision as it is said, to the agent and in the record alike: without secrets, and with no suggestion that cannot be followed.
import { canonicalJson } from '../../canonical/canonical.ts'
import { cutAtBytes } from '../../events/preview.ts'
import type { Redact } from '../../events/redact.ts'
import type { CallFacts, Decision, Hint, JsonObject } from '../../policy/types.ts'

/** Text may come from a policy or an upstream and be of any length; a line of a record may not. */
const TEXT_BYTES_MAX = 2_048
const SUGGESTION_CHARS_MAX = 8_192

export function shownDecision(decision: Decision, call: CallFacts, redact: Redact): Decision {
  const { hint, terminate } = decision
  return {
    ...decision,
    summary: redact(decision.summary),
    reason_code: redact(decision.reason_code),
    ...(hint === undefined ? {} : { hint: shownHint(hint, call, redact) }),
    ...(terminate === undefined
      ? {}
      : { terminate: { ...terminate, terminate_message: redact(terminate.terminate_message) } }),
  }
}

/** Where the suggested arguments hold a secret of the call's own, only what is to be changed in them is said. */
function shownHint(hint: Hint, call: CallFacts, redact: Redact): Hint {
  const shown = { ...hint, hint_text: redact(hint.hint_text) }
  const { suggested_args: suggested, retry_advice: advice } = hint
  if (suggested === null || isOpen(suggested, redact)) return shown
  const changed = changedIn(suggested, call)
  const change = isOpen(changed, redact)
    ? `Send your own arguments again with this changed: ${JSON.stringify(changed)}`
    : null
  return { ...shown, suggested_args: null, retry_advice: change ?? advice }
}

function isOpen(args: JsonObject, redact: Redact): boolean {
  const text = JSON.stringify(args)
  return redact(text) === text
}

function changedIn(suggested: JsonObject, { args }: CallFacts): JsonObject {
  if (typeof args === 'string') return suggested
  return Object.fromEntries(
    Object.entries(suggested).filter(
      ([key, value]) => !Object.hasOwn(args, key) || canonicalJson(args[key]) !== canonicalJson(value),
    ),
  )
}

/** The same, short enough for a record. */
export function recordedDecision(shown: Decision): Decision {
  const { hint } = shown
  return {
    ...shown,
    summary: shortText(shown.summary),
    ...(hint === undefined ? {} : { hint: recordedHint(hint) }),
  }
}

function recordedHint(hint: Hint): Hint {
  const isLong = JSON.stringify(hint.suggested_args).length > SUGGESTION_CHARS_MAX
  return {
    ...hint,
    hint_text: shortText(hint.hint_text),
    retry_advice: hint.retry_advice === null ? null : shortText(hint.retry_advice),
    suggested_args: isLong ? null : hint.suggested_args,
  }
}

export function shortText(text: string): string {
  return cutAtBytes(text, TEXT_BYTES_MAX)
}
