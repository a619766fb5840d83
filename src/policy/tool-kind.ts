// Classifies a tool as reading, writing or destroying, from its annotations and its name. The starter policy and policy diffs use it; so does the claim check, for tools whose server says that they write (readOnlyHint: false).
import type { Annotations } from './types.ts'

export type ToolKind = 'reads' | 'writes' | 'destroys' | 'unknown'

export interface Classified {
  readonly kind: ToolKind
  /** What it was told from. */
  readonly why: string
}

/** The worst word of a name counts: `get_or_delete` deletes. */
const WORDS: readonly (readonly [ToolKind, ReadonlySet<string>])[] = [
  [
    'destroys',
    new Set(
      (
        'delete remove rm rmdir unlink drop destroy truncate purge wipe erase clear reset revert rollback kill terminate ' +
        'shutdown uninstall revoke force overwrite format prune exec execute run shell bash sh command eval deploy publish ' +
        'transfer pay ban archive'
      ).split(' '),
    ),
  ],
  [
    'writes',
    new Set(
      (
        'write edit create make mkdir update upsert put set add insert append move mv rename copy cp replace patch apply ' +
        'commit push merge rebase checkout upload post send save store import install start stop open close assign submit ' +
        'modify change comment reply invite approve reject trigger schedule fork sync click type fill press navigate ' +
        'stage tag release notify'
      ).split(' '),
    ),
  ],
  [
    'reads',
    new Set(
      (
        'read list ls get search find grep glob stat status diff log show view fetch query describe inspect count check ' +
        'lookup browse peek head tail cat info help ping explain tree history blame screenshot snapshot resolve validate ' +
        'whoami version health'
      ).split(' '),
    ),
  ],
]

export function classifyTool(name: string, said: Annotations | undefined): Classified {
  const named = byName(name)
  if (said?.destructive === true && said.read_only !== true)
    return { kind: 'destroys', why: 'its server says that it destroys' }
  // A server that calls its delete a read is not taken at its word.
  if (said?.read_only === true && (named.kind === 'destroys' || named.kind === 'writes'))
    return { kind: named.kind, why: `its server says that it only reads, but ${named.why}` }
  if (said?.read_only === true) return { kind: 'reads', why: 'its server says that it only reads' }
  if (said?.read_only === false && (named.kind === 'reads' || named.kind === 'unknown'))
    return { kind: 'writes', why: 'its server says that it does not only read' }
  return named
}

function byName(name: string): Classified {
  const words = wordsOf(name)
  for (const [kind, known] of WORDS) {
    const word = words.find((one) => known.has(one))
    if (word !== undefined) return { kind, why: `its name says ${word}` }
  }
  return { kind: 'unknown', why: 'neither its server nor its name says what it does' }
}

/** `deleteFile2`, `git_push`, `fs/read-all` in words. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')
}
