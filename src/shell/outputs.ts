// Programs that write what an option or a place on their command line names: compilers, formatters, packers.
import { hasOption, type OptionRules, type SortedWords, sortWords, valuesOf } from './options.ts'
import type { WrittenWord } from './programs.ts'
import type { Word } from './word.ts'

/** With the options whose values are files that are written. */
const BY_OPTION: Readonly<Record<string, OptionRules & { readonly to: readonly string[] }>> = {
  sort: {
    short: 'koStT',
    long: [
      'output',
      'key',
      'field-separator',
      'buffer-size',
      'temporary-directory',
      'parallel',
      'batch-size',
      'compress-program',
      'files0-from',
      'random-source',
      'sort',
    ],
    to: ['o', 'output'],
  },
  shuf: { short: 'eino', long: ['output', 'input-range', 'head-count', 'random-source'], to: ['o', 'output'] },
  iconv: { short: 'fto', long: ['from-code', 'to-code', 'output'], to: ['o', 'output'] },
  pandoc: { short: 'frtowVMHBAT', long: ['from', 'to', 'output', 'template', 'metadata'], to: ['o', 'output'] },
  gpg: { short: 'oruN', long: ['output', 'recipient', 'local-user'], to: ['o', 'output'] },
}

/** Of these a single word `-o` stands before the file; what else begins so is one long name. */
const BY_WORD: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'cc gcc g++ c++ clang clang++ ld as nasm rustc go ghc dot'.split(' ').map((name) => [name, '-o']),
  ),
  openssl: '-out',
}

interface InPlace extends OptionRules {
  /** Options that make it write; nothing where it always does. */
  readonly on?: readonly string[]
  /** Options that keep it from writing. */
  readonly off?: readonly string[]
  /** Words before the files: a verb, a script. */
  readonly words?: number
}

/** Named files are written; of a folder only the disk knows what in it. */
const IN_PLACE: Readonly<Record<string, InPlace>> = {
  prettier: {
    on: ['w', 'write'],
    long: ['config', 'parser', 'plugin', 'ignore-path', 'log-level', 'print-width', 'tab-width'],
  },
  eslint: { on: ['fix'], short: 'cfo', long: ['config', 'ext', 'rule', 'format', 'output-file', 'ignore-pattern'] },
  stylelint: { on: ['fix'], long: ['config', 'ignore-path', 'formatter'] },
  biome: { on: ['write', 'fix', 'apply'], words: 1, long: ['config-path', 'log-level'] },
  black: {
    off: ['check', 'diff', 'c', 'code'],
    short: 'ltc',
    long: ['line-length', 'target-version', 'config', 'code'],
  },
  isort: {
    off: ['c', 'check', 'check-only', 'd', 'diff'],
    short: 'lp',
    long: ['profile', 'line-length', 'settings-path'],
  },
  autopep8: { on: ['i', 'in-place'], long: ['select', 'ignore', 'max-line-length'] },
  gofmt: { on: ['w'], short: 'r' },
  goimports: { on: ['w'], long: ['local'] },
  gofumpt: { on: ['w'] },
  rustfmt: { off: ['check'], long: ['edition', 'config', 'config-path', 'emit'] },
  'clang-format': { on: ['i'], long: ['style', 'assume-filename'] },
  shfmt: { on: ['w', 'write'], short: 'i', long: ['indent', 'language-dialect'] },
  yq: { on: ['i', 'inplace', 'in-place'], words: 1 },
  dos2unix: {},
  unix2dos: {},
  ed: { short: 'p' },
  ex: { short: 'cT' },
}

/** Nothing for a program that is not known here. */
export function outputWords(name: string, args: readonly Word[]): readonly WrittenWord[] | undefined {
  const byOption = known(BY_OPTION, name)
  if (byOption !== undefined) return valuesOf(sortWords(args, byOption), ...byOption.to)
  const word = known(BY_WORD, name)
  if (word !== undefined) return args.filter((_, at) => args[at - 1]?.text === word)
  const inPlace = known(IN_PLACE, name)
  if (inPlace !== undefined) return writtenInPlace(inPlace, sortWords(args, inPlace))
  return packed(name, args)
}

const known = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

function writtenInPlace({ on, off = [], words = 0 }: InPlace, sorted: SortedWords): WrittenWord[] {
  if ((on !== undefined && !hasOption(sorted, ...on)) || hasOption(sorted, ...off)) return []
  return sorted.plain.slice(words).map((file) => ({ ...file, into: [] }))
}

function packed(name: string, args: readonly Word[]): readonly WrittenWord[] | undefined {
  switch (name) {
    case 'uniq':
      return sortWords(args, { short: 'fsw', long: ['skip-fields', 'skip-chars', 'check-chars'] }).plain.slice(1, 2)
    case 'fallocate':
      return sortWords(args, { short: 'lo', long: ['length', 'offset'] }).plain
    case 'gzip':
    case 'gunzip':
    case 'bzip2':
    case 'bunzip2':
    case 'xz':
    case 'unxz': {
      const sorted = sortWords(args, { short: 'S', long: ['suffix'] })
      const isKept = hasOption(sorted, 'c', 'stdout', 'to-stdout', 'k', 'keep', 't', 'test', 'l', 'list')
      return isKept ? [] : sorted.plain.flatMap((file) => [{ ...file, into: [] }, otherName(name, file)])
    }
    case 'tar':
      return archived(args)
    case 'zip':
      return sortWords(args, { short: 'xinbt' }).plain.slice(0, 1).map(zipped)
    default:
      return undefined
  }
}

const ENDINGS: Readonly<Record<string, string>> = { gzip: '.gz', bzip2: '.bz2', xz: '.xz' }

/** What a file is called when it is packed, or was called before. */
function otherName(program: string, { text, ...file }: Word): Word {
  const ending = ENDINGS[program]
  if (text === null) return { ...file, text }
  return { ...file, text: ending === undefined ? text.replace(/\.(?:gz|bz2|xz)$/, '') : text + ending }
}

/** `tar -czf out.tgz src`, `tar czf out.tgz src`: what is packed, not what is unpacked. */
function archived([first, ...rest]: readonly Word[]): readonly Word[] {
  if (first === undefined) return []
  const { text } = first
  const words = [text === null || text.startsWith('-') ? first : { ...first, text: `-${text}` }, ...rest]
  const sorted = sortWords(words, {
    short: 'fCTXbgIHV',
    long: ['file', 'directory', 'exclude', 'exclude-from', 'files-from'],
  })
  return hasOption(sorted, 'c', 'create', 'r', 'append', 'u', 'update') ? valuesOf(sorted, 'f', 'file') : []
}

const zipped = (word: Word): Word =>
  word.text === null || /\.\w+$/.test(word.text) ? word : { ...word, text: `${word.text}.zip` }
