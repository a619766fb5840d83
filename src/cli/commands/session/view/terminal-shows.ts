// What the viewer's terminal can show beyond the usual: by its name, by its version, or by what terminfo says of it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Shows, SHOWS_PLAIN } from '../../../../cells/pen.ts'
import { isErrno } from '../../../../errors.ts'
import type { Env } from '../../../../paths.ts'

/** Terminals that have both, by TERM or TERM_PROGRAM as they set it. */
const KNOWN =
  /^(?:xterm-kitty|xterm-ghostty|ghostty|foot(?:-.*)?|contour(?:-.*)?|wezterm|WezTerm|iTerm\.app|mintty|rio|vscode)$/
/** Have links, and underlines only where terminfo says so. */
const WITH_LINKS = /^(?:alacritty(?:-.*)?|tmux(?:-.*)?)$/
/** Says `truecolor` and yet prints what it does not know. */
const PLAIN = /^(?:Apple_Terminal|linux|dumb)$/
/** VTE, as in GNOME Terminal: links since 0.50, styles and colours of underlines since 0.52. */
const VTE = { links: 5_000, underlines: 5_200 }

export function terminalShows(env: Env, isSafe: boolean): Shows {
  const names = [env['TERM'], env['TERM_PROGRAM']].flatMap((name) => name ?? [])
  if (names.some((name) => PLAIN.test(name))) return SHOWS_PLAIN
  const isKnown = names.some((name) => KNOWN.test(name)) || env['KITTY_WINDOW_ID'] !== undefined
  const vte = Number(env['VTE_VERSION'] ?? 0)
  const hasColors = /^(?:truecolor|24bit)$/.test(env['COLORTERM'] ?? '')
  return {
    ...SHOWS_PLAIN,
    // A link is not dangerous until somebody follows it; who wants to be safe is not even tempted.
    links:
      !isSafe &&
      (isKnown || vte >= VTE.links || names.some((name) => WITH_LINKS.test(name)) || (vte === 0 && hasColors)),
    underlines: isKnown || vte >= VTE.underlines || hasStyledUnderlines(env),
  }
}

/** The names that terminfo's extensions have for it: a style, a colour, or the one that says both. */
const STYLED = ['Smulx', 'Su'].map((name) => `\0${name}\0`)

/** An entry holds the names of its extensions as text. */
function hasStyledUnderlines(env: Env): boolean {
  const entry = readEntry(env)?.toString('latin1') ?? ''
  return STYLED.some((name) => entry.includes(name))
}

function readEntry(env: Env): Buffer | undefined {
  const name = env['TERM'] ?? ''
  if (!/^[A-Za-z0-9][A-Za-z0-9.+_-]*$/.test(name)) return undefined
  const folders = [
    env['TERMINFO'],
    env['HOME'] === undefined ? undefined : join(env['HOME'], '.terminfo'),
    ...(env['TERMINFO_DIRS'] ?? '').split(':'),
    '/etc/terminfo',
    '/lib/terminfo',
    '/usr/share/terminfo',
  ]
  // Filed under the first letter, or on some systems under its number.
  const shelves = [name.slice(0, 1), name.charCodeAt(0).toString(16)]
  for (const folder of folders)
    for (const shelf of folder === undefined || folder === '' ? [] : shelves)
      try {
        return readFileSync(join(folder as string, shelf, name))
      } catch (error) {
        if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) throw error
      }
  return undefined
}
