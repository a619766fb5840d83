// How a secret can stand in bytes without any escapes: as it is, in base64 at each of its three phases, in hexadecimal.

export interface Form {
  readonly bytes: Buffer
  /** Hexadecimal digits are the same in capitals. */
  readonly ignoresCase: boolean
}

/** Fewer characters than this name nothing: they would be found in every text. */
const FORM_BYTES_MIN = 4

export function formsOf(value: string): readonly Form[] {
  // A file of JSON is encoded whole, with the value escaped in it.
  const encoded = [...new Set([value, inJson(value), inAscii(inJson(value))])].map((text) => Buffer.from(text))
  const cores = encoded.flatMap((bytes) => [0, 1, 2].map((phase) => base64Core(bytes, phase)))
  const texts = [
    value,
    // As a form field has it, and a file of another system.
    value.replaceAll(' ', '+'),
    value.replaceAll('\n', '\r\n'),
    ...cores,
    ...cores.map((core) => core.replaceAll('+', '-').replaceAll('/', '_')),
  ]
  // Some writers of JSON escape a slash, which nobody has to: as forms of their own they cost no second look at the text.
  const slashed = texts.flatMap((text) => [text, text.replaceAll('/', '\\/'), text.replaceAll('/', '\\\\/')])
  const exact = [...new Set(slashed)].map((text) => ({ bytes: Buffer.from(text), ignoresCase: false }))
  const hex = encoded.map((bytes) => ({ bytes: Buffer.from(bytes.toString('hex')), ignoresCase: true }))
  const forms = [...exact, ...hex]
  return forms.filter((form) => form.bytes.length >= FORM_BYTES_MIN)
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** As writers do that trust no other letters. */
const inAscii = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * The characters that are the same whatever stands before and after the value. `phase` bytes before it share its first
 * group of three. The one character on either side that is shared with a neighbour is not among them.
 */
function base64Core(bytes: Buffer, phase: number): string {
  const text = Buffer.concat([Buffer.alloc(phase), bytes]).toString('base64')
  const firstWhole = Math.ceil((phase * 8) / 6)
  const endWhole = Math.floor(((phase + bytes.length) * 8) / 6)
  return text.slice(firstWhole, endWhole)
}
