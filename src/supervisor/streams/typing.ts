// Whether input was typed or pasted, or is what a terminal sends by itself: reports of focus and mouse, answers. Pure.

const ESC = 0x1b

/** Device attributes, cursor position, status, modes, window, keyboard flags, terminal parameters. */
const CSI_ANSWERS = [
  '[?>=][\\d;]*c',
  '\\??\\d+;\\d+(?:;\\d+)?R',
  '\\??[\\d;]*n',
  '\\??[\\d;]+\\$y',
  '[\\d;]+[tx]',
  '\\?\\d+u',
  '>[\\d;]*m',
]
const CSI_REPORTS = [
  // Focus came, focus went.
  '[IO]',
  // Mouse, in its three ways of writing.
  'M[^]{3}',
  '<[\\d;]+[Mm]',
  '\\d+;\\d+;\\d+M',
  ...CSI_ANSWERS,
  // A key let go (kitty keyboard): it was pressed elsewhere, or that was counted already.
  '[\\d:]+;\\d+:3[\\d:;]*[A-Zu~]',
]
/** Colours, clipboard, version, settings, images: no key begins a string. */
const STRING_ANSWERS = ['\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)', '[P_^X][^\\x1b]*\\x1b\\\\']
const sequence = (csi: readonly string[], flags: string): RegExp =>
  new RegExp(`\\x1b(?:\\[(?:${csi.join('|')})|${STRING_ANSWERS.join('|')})`, flags)
const REPORT = sequence(CSI_REPORTS, 'y')
const ANSWER = sequence(CSI_ANSWERS, 'g')
/** The beginning of one. A lone ESC is the key. */
const BEGUN = /^\x1b(?:\[[\d;:?<>=$]*|\[M[^]{0,2}|[\]P_^X][^\x07\x1b]*\x1b?)$/
/** The longest answer that is waited for; whatever is longer is a paste. */
const REPORT_BYTES_MAX = 8 << 10

/** Reads the input of one client, whose reports may come in pieces. */
export class TypingReader {
  #begun = ''

  /** True when somebody typed or pasted. */
  read(bytes: Buffer): boolean {
    if (this.#begun === '' && !bytes.includes(ESC)) return bytes.length > 0
    const text = this.#begun + bytes.toString('latin1')
    this.#begun = begunAtEnd(text)
    const end = text.length - this.#begun.length
    let at = 0
    while (at < end) {
      REPORT.lastIndex = at
      if (!REPORT.test(text)) return true
      at = REPORT.lastIndex
    }
    return false
  }
}

/** Without what a terminal answers when it is asked, as far as it came in one piece. */
export function withoutAnswers(bytes: Buffer): Buffer {
  return bytes.includes(ESC) ? Buffer.from(bytes.toString('latin1').replaceAll(ANSWER, ''), 'latin1') : bytes
}

function begunAtEnd(text: string): string {
  const tail = text.slice(-REPORT_BYTES_MAX)
  // The last ESC may be that of a string's terminator, torn in two.
  const last = tail.lastIndexOf('\u001b')
  const from = last > 0 && last === tail.length - 1 ? tail.lastIndexOf('\u001b', last - 1) : last
  return (
    [from, last]
      .filter((at) => at >= 0)
      .map((at) => tail.slice(at))
      .find((part) => BEGUN.test(part)) ?? ''
  )
}
