// What an agent is told when its session begins: who it is, who holds what, what waits for it. At most 400 tokens, whatever others have written.
import { isBinding, type Standing } from '../../coordination/claims/conflicts.ts'
import { listClaims } from '../../coordination/claims/claims.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { inbox } from '../../coordination/notes.ts'
import type { Agent, Note } from '../../coordination/store.ts'
import { fence, label } from '../../fence.ts'
import { HOOK_BRIEF_LINE_CHARS_MAX, HOOK_BRIEF_LINES_MAX, HOOK_BRIEF_TOKENS_MAX } from '../../limits.ts'
import type { Coverage } from './coverage.ts'

export async function sessionBrief(room: Coordination, agent: Agent, { state, why }: Coverage): Promise<string> {
  const claims = listClaims(room)
  const own = claims.filter(({ claim }) => claim.holder === agent.haid)
  const others = claims.filter((standing) => standing.claim.holder !== agent.haid && isBinding(standing))
  const head = [
    `You are ${agent.agentId} (Heimdall). Other agents may work in this repository; this session is ${state}: ${why}.`,
    'A path that you write first is yours; what another holds is refused with its name. Check with: heimdall claim check PATH.',
  ]
  // As much as fits: fewer words of others, until it does.
  for (let lines = HOOK_BRIEF_LINES_MAX; lines > 0; lines -= 1) {
    const brief = [
      ...head,
      own.length === 0 ? '' : `You hold: ${some(own.map(heldText), lines)}`,
      others.length === 0 ? 'Nobody else holds anything.' : `Held by others: ${some(others.map(otherText), lines)}`,
      unreadNotes(room, agent, lines),
    ]
    const text = brief.filter((line) => line !== '').join('\n')
    if (await isShort(text)) return text
  }
  return [...head, `${others.length} claims of others: heimdall claim list; notes: heimdall note list.`].join('\n')
}

/** No token is shorter than a byte, so a text that short needs no tokenizer, which takes long to load. */
async function isShort(text: string): Promise<boolean> {
  if (Buffer.byteLength(text) <= HOOK_BRIEF_TOKENS_MAX) return true
  const { measure } = await import('../../briefing/tokens.ts')
  return measure(text).tokens <= HOOK_BRIEF_TOKENS_MAX
}

/** Notes that nobody has read, fenced: they are other agents' words. Nothing where there are none. */
export function unreadNotes(room: Coordination, agent: Agent, lines = HOOK_BRIEF_LINES_MAX): string {
  const notes = inbox(room, { agent: agent.haid, state: 'unread', limit: lines })
  if (notes.length === 0) return ''
  return fence(notes.map(noteText).join('\n'), {
    from: 'other agents (heimdall note list has all of it)',
    charsMax: HOOK_BRIEF_LINE_CHARS_MAX * lines,
    randomBytes: room.randomBytes,
  })
}

function some(texts: readonly string[], lines: number): string {
  const rest = texts.length - lines
  return `${texts.slice(0, lines).join('; ')}${rest > 0 ? `; and ${rest} more (heimdall claim list)` : ''}.`
}

const scopesOf = ({ claim }: Standing): string => claim.scopes.map(({ raw }) => raw).join(' ')

const heldText = (standing: Standing): string => shown(scopesOf(standing))

const otherText = (standing: Standing): string => {
  const { agentId, claim } = standing
  return shown(`${agentId}: ${scopesOf(standing)}${claim.task === null ? '' : ` for ${claim.task}`}`)
}

/** Plain characters only: others may cost several tokens each, and hide what they are. */
const shown = (text: string): string => label(text.replace(/[^ -~]/gu, '?'), HOOK_BRIEF_LINE_CHARS_MAX)

const noteText = ({ messageId, category, from, subject }: Note): string =>
  shown(`${messageId} ${category} from ${from}: ${subject}`)
