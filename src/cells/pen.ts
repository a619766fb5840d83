// Attributes of cells as escape sequences, written only where they change.
import type { IBufferCell, Terminal } from '@xterm/headless'
import { LINK_BYTES_MAX } from '../limits.ts'
import { AS_ONE, type ClusterWidths } from './clusters.ts'
import { attributesOf, linkOf, underlineColorOf, underlineStyleOf } from './cell.ts'

/** What the receiving terminal can show beyond colours and the plain attributes; what it cannot is drawn as the nearest it can. */
export interface Shows {
  /** OSC 8. */
  readonly links: boolean
  /** Double, curly, dotted and dashed underlines, and their colours. */
  readonly underlines: boolean
  readonly clusters: ClusterWidths
}

export const SHOWS_ALL: Shows = { links: true, underlines: true, clusters: AS_ONE }
export const SHOWS_PLAIN: Shows = { links: false, underlines: false, clusters: AS_ONE }

export class Pen {
  readonly #terminal: Terminal
  readonly shows: Shows
  #attributes: ReturnType<typeof attributesOf> = [0, 0, 0, 0]
  #sgr = '0'
  #link = ''

  constructor(terminal: Terminal, shows: Shows) {
    this.#terminal = terminal
    this.shows = shows
  }

  style(cell: IBufferCell): string {
    const attributes = attributesOf(cell)
    if (this.#attributes.every((value, i) => value === attributes[i])) return ''
    this.#attributes = attributes
    return this.#change(this.shows.links ? openLink(linkOf(this.#terminal, cell)) : '', sgrOf(cell, this.shows))
  }

  /** In reverse, and nothing else. */
  mark(): string {
    this.#attributes = [-1, -1, -1, -1]
    return this.#change('', '0;7')
  }

  /** Back to no attributes at all. */
  lift(): string {
    this.#attributes = [0, 0, 0, 0]
    return this.#change('', '0')
  }

  #change(link: string, sgr: string): string {
    const change =
      (link === this.#link ? '' : link === '' ? CLOSE_LINK : link) + (sgr === this.#sgr ? '' : `\x1b[${sgr}m`)
    this.#sgr = sgr
    this.#link = link
    return change
  }
}

export const CLOSE_LINK = '\x1b]8;;\x1b\\'

/**
 * The address comes from the child: what could end the command early is left out, and one that no terminal takes is not
 * drawn. The id tells the terminal that pieces which are drawn apart are one link.
 */
function openLink(link: ReturnType<typeof linkOf>): string {
  if (link === undefined || link.uri.length > LINK_BYTES_MAX) return ''
  // oxlint-disable-next-line no-control-regex
  const uri = link.uri.replace(/[\x00-\x1f\x7f-\x9f]/g, '')
  return uri === '' ? '' : `\x1b]8;id=hm${link.id};${uri}\x1b\\`
}

/** All of a cell's attributes from a reset state, as parameters of SGR. */
function sgrOf(cell: IBufferCell, { underlines }: Shows): string {
  const underline = underlineStyleOf(cell)
  return [
    '0',
    cell.isBold() !== 0 ? '1' : '',
    cell.isDim() !== 0 ? '2' : '',
    cell.isItalic() !== 0 ? '3' : '',
    underline === 0 ? '' : underline === 1 || !underlines ? '4' : `4:${underline}`,
    cell.isBlink() !== 0 ? '5' : '',
    cell.isInverse() !== 0 ? '7' : '',
    cell.isInvisible() !== 0 ? '8' : '',
    cell.isStrikethrough() !== 0 ? '9' : '',
    cell.isOverline() !== 0 ? '53' : '',
    colorOf(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor(), cell.getFgColorMode(), 30),
    colorOf(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor(), cell.getBgColorMode(), 40),
    underlines ? underlineColorOf(cell) : '',
  ]
    .filter((part) => part !== '')
    .join(';')
}

/** How the emulator marks a colour of the 256; the first 16 set by number are not those that bold makes brighter. */
const MODE_256 = 0x200_0000

function colorOf(isRgb: boolean, isPalette: boolean, color: number, mode: number, base: 30 | 40): string {
  if (isRgb) return `${base + 8};2;${(color >>> 16) & 0xff};${(color >>> 8) & 0xff};${color & 0xff}`
  if (!isPalette) return ''
  if (mode === MODE_256) return `${base + 8};5;${color}`
  return String(color < 8 ? base + color : base + 60 + color - 8)
}
