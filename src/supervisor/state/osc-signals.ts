// What terminal commands say about a program: it asks for somebody, it works, it has a title. Pure.
import { SIGNAL_TEXT_MAX } from '../../limits.ts'

export type Signal =
  | { readonly is: 'asking'; readonly evidence: string }
  | { readonly is: 'working'; readonly evidence: string }
  /** A display of work was taken away: nothing is known. */
  | { readonly is: 'silent' }
  /** What the program, or with a name a part of it, says of itself; it holds until it says something else. */
  | {
      readonly is: 'status'
      readonly part: string
      readonly state: 'blocked' | 'working' | 'other'
      readonly evidence: string
    }
  /** `asks` is the evidence in a title that calls for somebody. */
  | { readonly is: 'title'; readonly title: string; readonly asks: string | undefined }

export function readSignal(code: number, text: string): Signal | undefined {
  switch (code) {
    case 0:
    case 2:
      return readTitle(plainText(text))
    case 9:
      return readNine(text)
    case 99:
      return readKitty(text)
    case 777:
      return text.startsWith('notify;') ? asking(777, text.slice('notify;'.length).replace(';', ': ')) : undefined
    case 133:
      return readShellMark(text)
    case 7501:
      return readProgramStatus(text)
    default:
      return undefined
  }
}

const asking = (code: number, text: string): Signal => ({ is: 'asking', evidence: plainText(`OSC ${code}: ${text}`) })
const working = (text: string): Signal => ({ is: 'working', evidence: plainText(text) })

/** `9;text` notifies; `9;4;state;percent` is progress; other numbers are commands of one terminal. */
function readNine(text: string): Signal | undefined {
  const progress = /^4;([0-4])(?:;|$)/.exec(text)?.[1]
  if (progress === '0') return { is: 'silent' }
  if (progress === '1' || progress === '3') return working('OSC 9;4: progress')
  return text === '' || /^\d+(?:;|$)/.test(text) ? undefined : asking(9, text)
}

/** `99;key=value:…;payload`: title or body of a notification, plain or base64. */
function readKitty(text: string): Signal | undefined {
  const split = text.indexOf(';')
  if (split < 0) return undefined
  const metadata = new Map(
    text
      .slice(0, split)
      .split(':')
      .map((pair): [string, string] => [pair.slice(0, 1), pair.slice(2)]),
  )
  const kind = metadata.get('p') ?? 'title'
  if (kind !== 'title' && kind !== 'body') return undefined
  const payload = text.slice(split + 1)
  return payload === '' ? undefined : asking(99, metadata.get('e') === '1' ? fromBase64(payload) : payload)
}

/** A shell marks its prompt (A, B), the command it runs (C) and that command's end (D). */
function readShellMark(text: string): Signal | undefined {
  if (/^[AB](?:;|$)/.test(text)) return { is: 'asking', evidence: 'OSC 133: shell prompt' }
  return /^C(?:;|$)/.test(text) ? working('OSC 133: command running') : undefined
}

/** `state=blocked:kind=permission:msg=<base64>`: the program status protocol. Parts of a program report under an id. */
function readProgramStatus(text: string): Signal | undefined {
  const fields = new Map(
    text.split(':').map((pair): [string, string] => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)]),
  )
  const part = fields.get('id') ?? ''
  switch (fields.get('state') ?? '') {
    case 'blocked': {
      const words = [fields.get('kind') ?? 'blocked', fromBase64(fields.get('msg') ?? '')].filter((word) => word !== '')
      return { is: 'status', part, state: 'blocked', evidence: plainText(`OSC 7501: ${words.join(': ')}`) }
    }
    case 'working':
      return { is: 'status', part, state: 'working', evidence: 'OSC 7501: working' }
    case 'idle':
    case 'done':
    case 'error':
    case 'clear':
      return { is: 'status', part, state: 'other', evidence: '' }
    default:
      return undefined
  }
}

/** How hosts mark a title while they wait; some let the mark blink, which must not look like news. */
const TITLE_MARK = /^(?:\[ [!.] \]|✋)\s*/u

function readTitle(title: string): Signal {
  const asks = /^(?:\[ ! \]|✋)|\bAction Required\b/u.test(title)
  return { is: 'title', title, asks: asks ? `title: ${title.replace(TITLE_MARK, '') || title}` : undefined }
}

const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8')

/** A stranger's text as it may be shown anywhere: no controls, no marks that turn text around, bounded. */
export function plainText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .slice(0, SIGNAL_TEXT_MAX)
    .trim()
}
