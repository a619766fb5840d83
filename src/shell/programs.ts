// Where programs write, by their words: those whose words say it without a doubt.
import { patchPaths, type Strip } from './patch-paths.ts'
import { outputWords } from './outputs.ts'
import { hasOption, type OptionRules, type SortedWords, sortWords, valuesOf } from './options.ts'
import type { SimpleCommand } from './parse.ts'
import type { Word } from './word.ts'

/** A word that is written; with `into`, a folder in which those names are written, where it is one. */
export interface WrittenWord extends Word {
  readonly into?: readonly Word[]
  /** It is taken away, with all that is in it. */
  readonly isGone?: true
}

/** Letters of a mode that may stand behind a dash. */
const MODES = ['r', 'w', 'x', 'X', 's', 't'] as const

const TARGET = { short: 'St', long: ['suffix', 'target-directory'] } as const

const AWK = { short: 'fFviel', long: ['file', 'field-separator', 'assign', 'include', 'source', 'load'] } as const

/** Options that take values, by program. */
export const RULES: Readonly<Record<string, OptionRules>> = {
  mv: TARGET,
  cp: TARGET,
  ln: TARGET,
  install: { short: 'mgoSt', long: ['mode', 'group', 'owner', 'suffix', 'target-directory', 'strip-program'] },
  chmod: { long: ['reference'] },
  chown: { long: ['reference', 'from'] },
  chgrp: { long: ['reference'] },
  mkdir: { short: 'm', long: ['mode'] },
  mkfifo: { short: 'm', long: ['mode'] },
  touch: { short: 'rdt', long: ['reference', 'date', 'time'] },
  truncate: { short: 'sr', long: ['size', 'reference'] },
  shred: { short: 'ns', long: ['iterations', 'size', 'random-source'] },
  sed: { short: 'efl', attached: 'i', long: ['expression', 'file', 'line-length'] },
  perl: { short: 'eEI', attached: 'ilF0CDMmx' },
  ruby: { short: 'eIrCE', attached: 'i0FKTWx' },
  curl: {
    short: 'oHdXuAbcDeFTEmxywYzrKCPQtU',
    long: 'output output-dir header data data-raw data-binary data-urlencode request user user-agent cookie cookie-jar dump-header referer form upload-file cert key cacert max-time connect-timeout proxy retry retry-delay range config url write-out json resolve'.split(
      ' ',
    ),
  },
  wget: {
    short: 'OoaePtTwQUAIDXlR',
    long: 'output-document output-file append-output directory-prefix header post-data user-agent timeout tries wait user password'.split(
      ' ',
    ),
  },
  rsync: {
    short: 'efBMT',
    long: 'rsh exclude include exclude-from include-from filter files-from backup-dir suffix log-file temp-dir compare-dest copy-dest link-dest chmod chown timeout port bwlimit max-size min-size password-file out-format'.split(
      ' ',
    ),
  },
  scp: { short: 'cFiJloPSDX' },
  awk: AWK,
  gawk: AWK,
  patch: {
    short: 'idpoBDFgrVYz',
    long: ['input', 'directory', 'strip', 'output', 'prefix', 'fuzz', 'get', 'reject-file', 'suffix'],
  },
}

/** Nothing for a program that is not known here. */
export function programWords(name: string, args: readonly Word[]): readonly WrittenWord[] | undefined {
  const sorted = sortWords(args, RULES[name])
  const { plain } = sorted
  switch (name) {
    case 'tee':
    case 'touch':
    case 'truncate':
    case 'shred':
    case 'sponge':
    case 'mkdir':
    case 'mkfifo':
      return plain
    case 'chmod':
    case 'chown':
    case 'chgrp':
      // `chmod -x a` has its mode among the options.
      return hasOption(sorted, 'reference', ...MODES) ? plain : plain.slice(1)
    case 'rm':
    case 'rmdir':
    case 'unlink':
      return gone(plain)
    case 'mv':
      return [...gone(isInto(sorted) ? plain : plain.slice(0, -1)), ...destination(sorted)]
    case 'cp':
      return destination(sorted)
    case 'ln':
      // Of a single name, the link is made here.
      return plain.length === 1 && !isInto(sorted) ? namesOf(plain) : destination(sorted)
    case 'install':
      return hasOption(sorted, 'd', 'directory') ? plain : destination(sorted)
    case 'rsync':
      return hasOption(sorted, 'n', 'dry-run', 'list-only') ? [] : synced(plain)
    case 'scp':
      return synced(plain)
    case 'sed':
      return hasOption(sorted, 'i', 'in-place') ? behindScript(sorted, 'e', 'expression', 'f', 'file') : []
    case 'perl':
    case 'ruby':
      return hasOption(sorted, 'i') ? behindScript(sorted, 'e', 'E') : []
    case 'awk':
    case 'gawk':
      return valuesOf(sorted, 'i', 'include').some(({ text }) => text === 'inplace')
        ? behindScript(sorted, 'f', 'file', 'e', 'source')
        : []
    case 'dd':
      return args.flatMap((word) =>
        word.text?.startsWith('of=') === true ? [{ ...word, text: word.text.slice(3) }] : [],
      )
    case 'curl':
      return fetched(sorted)
    case 'wget':
      return valuesOf(sorted, 'O', 'output-document', 'o', 'output-file', 'a', 'append-output')
    default:
      return outputWords(name, args)
  }
}

export const gone = (words: readonly Word[]): WrittenWord[] => words.map((word) => ({ ...word, isGone: true }))

const isInto = (sorted: SortedWords): boolean => hasOption(sorted, 't', 'target-directory')

/** Where a copy or a move ends up. Whether the last name is a folder is for whoever knows the disk, unless the words say it. */
export function destination(sorted: SortedWords): WrittenWord[] {
  const [into] = valuesOf(sorted, 't', 'target-directory')
  const sources = into === undefined ? sorted.plain.slice(0, -1) : sorted.plain
  const to = into ?? sorted.plain.at(-1)
  if (to === undefined || sources.length === 0) return []
  if (hasOption(sorted, 'T', 'no-target-directory')) return [to]
  const names = hasOption(sorted, 'parents') ? sources : namesOf(sources)
  const isFolder = into !== undefined || sources.length > 1 || to.text?.endsWith('/') === true
  return isFolder ? names.map((name) => below(to, name)) : [{ ...to, into: names }]
}

/** What a path is called in its folder. */
const namesOf = (words: readonly Word[]): Word[] =>
  words.map(({ text, isPattern }) => ({ text: text?.replace(/\/+$/, '').split('/').at(-1) ?? null, isPattern }))

export const below = (folder: Word, name: Word): Word => ({
  text: folder.text === null || name.text === null ? null : `${folder.text.replace(/\/+$/, '')}/${name.text}`,
  isPattern: folder.isPattern || name.isPattern,
  ...(folder.isHome === true ? { isHome: true } : {}),
})

/** Local to local. What is behind a slash at its end is copied itself, under names that only the disk knows. */
function synced(plain: readonly Word[]): WrittenWord[] {
  const to = plain.at(-1)
  const sources = plain.slice(0, -1)
  if (to === undefined || to.text === null || /^[^/]*:/.test(to.text)) return []
  return sources.flatMap((from) => {
    if (from.text === null) return []
    const isContent = from.text.endsWith('/')
    const isFolder = sources.length > 1 || to.text?.endsWith('/') === true
    const [name] = namesOf([{ ...from, text: from.text.replace(/^[^/]*:/, '') }])
    if (isContent || name === undefined) return [to]
    return [isFolder ? below(to, name) : { ...to, into: [name] }]
  })
}

/** `sed -i SCRIPT FILE…`; with the script in an option, files alone. BSD has an empty word behind `-i`. */
function behindScript(sorted: SortedWords, ...scripts: readonly string[]): readonly Word[] {
  const plain = sorted.plain[0]?.text === '' ? sorted.plain.slice(1) : sorted.plain
  return hasOption(sorted, ...scripts) ? plain : plain.slice(1)
}

function fetched(sorted: SortedWords): Word[] {
  const [folder] = valuesOf(sorted, 'output-dir')
  const named = valuesOf(sorted, 'o', 'output')
  const isByAddress = hasOption(sorted, 'O', 'remote-name') && !hasOption(sorted, 'J', 'remote-header-name')
  const byAddress = isByAddress
    ? [...sorted.plain, ...valuesOf(sorted, 'url')].flatMap(({ text }) => {
        const name = /^(?:\w+:\/\/)?[^/?#]+\/(?:[^?#]*\/)?([^/?#]+)/.exec(text ?? '')?.[1]
        return name === undefined ? [] : [{ text: name, isPattern: false }]
      })
    : []
  const files = [...named, ...byAddress]
  const isOut = ({ text }: Word): boolean => text === '-'
  return [
    ...files.map((file) =>
      folder === undefined || isOut(file) || file.text?.startsWith('/') === true ? file : below(folder, file),
    ),
    ...valuesOf(sorted, 'c', 'cookie-jar', 'D', 'dump-header'),
  ]
}

/** How the names in a diff become paths. */
export interface DiffNames {
  readonly strip: Strip
  /** Folder that is put before each of them. */
  readonly below: string
}

/** `-p1 --directory=src`; nothing where only the shell knows. */
export function diffNames(
  [strip]: readonly Word[],
  [folder]: readonly Word[],
  otherwise?: Strip,
): DiffNames | undefined {
  const parts = strip === undefined ? otherwise : /^\d+$/.test(strip.text ?? '') ? Number(strip.text) : null
  return parts === null || folder?.text === null ? undefined : { strip: parts, below: folder?.text ?? '' }
}

/** `patch FILE < x.diff`, `patch -p1 -i x.diff`: the file it names, else what the diff names. */
export function patchWords(args: readonly Word[]): {
  readonly written: readonly Word[]
  readonly patches: readonly Word[] | 'stdin'
  readonly folder: Word | undefined
  /** Nothing where only the shell knows. */
  readonly names: DiffNames | undefined
} {
  const sorted = sortWords(args, RULES['patch'])
  const [folder] = valuesOf(sorted, 'd', 'directory')
  // Without a word on it, `patch` looks for the file's own name alone.
  const names = diffNames(valuesOf(sorted, 'p', 'strip'), [], 'folders')
  if (hasOption(sorted, 'dry-run')) return { written: [], patches: [], folder, names }
  const [file, diff] = sorted.plain
  const output = valuesOf(sorted, 'o', 'output')
  if (output.length > 0 || file !== undefined)
    return { written: output.length > 0 ? output : sorted.plain.slice(0, 1), patches: [], folder, names }
  const given = diff === undefined ? valuesOf(sorted, 'i', 'input') : [diff]
  return { written: [], patches: given.length === 0 ? 'stdin' : given, folder, names }
}

/** What a program is handed on its input, as far as the command line says it: files by name, or the text itself. */
export function handedOver({ redirections, hereDocument }: SimpleCommand): {
  readonly files: readonly Word[]
  readonly text: string | null
} {
  const last = redirections.findLast(({ operator }) => operator === '<' || operator === '<<<')
  return {
    files: last?.operator === '<' ? [last.target] : [],
    text: last?.operator === '<<<' ? last.target.text : hereDocument,
  }
}

/** Of a diff in the command line itself. */
export const wordsOfPatch = (text: string): Word[] => patchPaths(text).map((path) => ({ text: path, isPattern: false }))
