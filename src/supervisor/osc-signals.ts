// What terminal commands say about a program: it asks for somebody, it works, it has a title. Pure.
import { SIGNAL_TEXT_MAX } from '../limits.ts'

export type Signal =
  | { readonly is: 'asking'; readonly evidence: string }
  | { readonly is: 'working'; readonly evidence: string }
  /** Neither: what was said before no longer holds. */
  | { readonly is: 'silent' }
  | { readonly is: 'title'; readonly title: string }

export function readSignal(code: number, text: string): Signal | undefined {
  switch (code) {
    case 0:
    case 2:
      return { is: 'title', title: plainText(text) }
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

/** `state=blocked:kind=permission:msg=<base64>`: the program status protocol. */
function readProgramStatus(text: string): Signal | undefined {
  const fields = new Map(
    text.split(':').map((pair): [string, string] => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)]),
  )
  // Parts of a program report under an id of their own; only the program itself speaks for the session.
  if ((fields.get('id') ?? '') !== '') return fields.get('state') === 'blocked' ? blocked(fields) : undefined
  switch (fields.get('state') ?? '') {
    case 'blocked':
      return blocked(fields)
    case 'working':
      return working('OSC 7501: working')
    case 'idle':
    case 'done':
    case 'error':
    case 'clear':
      return { is: 'silent' }
    default:
      return undefined
  }
}

function blocked(fields: ReadonlyMap<string, string>): Signal {
  const words = [fields.get('kind') ?? 'blocked', fromBase64(fields.get('msg') ?? '')]
  return asking(7501, words.filter((word) => word !== '').join(': '))
}

const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8')

/** A stranger's text as it may be shown anywhere: no controls, no marks that turn text around, bounded. */
export function plainText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .slice(0, SIGNAL_TEXT_MAX)
    .trim()
}
