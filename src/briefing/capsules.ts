// Capsules on disk: write, show, list, and the dependency closure of some of them.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isoSeconds } from '../clock.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import { isId, parseId } from '../ids.ts'
import { readFileIfThere, replaceFile } from '../storage/atomic-file.ts'
import { diskError } from '../storage/faults.ts'
import { type Capsule, type CapsuleFields, countLines, formatCapsule, parseCapsule } from './capsule-text.ts'
import { closureOf } from './closure.ts'
import { pathToRead, pathToWrite } from '../storage/planning-folder.ts'
import { didYouMean } from '../suggest.ts'
import { FILES, logged, type Planning } from './planning.ts'
import { modeOf } from './state-file.ts'

const fileOf = (id: string): string => `${FILES.capsules}/${parseId('capsule', id)}.md`

export interface WrittenCapsule {
  readonly path: string
  readonly lines: number
}

/** Replaces the capsule as a whole; what is refused leaves the old one as it was. */
export function writeCapsule(planning: Planning, id: string, fields: CapsuleFields): WrittenCapsule {
  const text = formatCapsule(id, fields, isoSeconds(planning.clock.wallMs()))
  const path = pathToWrite(planning, fileOf(id))
  replaceFile(path, text, { mode: modeOf(path) })
  const lines = countLines(text)
  planning.log('capsule', 'write', `${id} depends=${fields.depends.join(',')} lines=${lines}`)
  return { path, lines }
}

/** The file's text, or nothing where there is no such capsule. */
export function readCapsule(planning: Planning, id: string): string | undefined {
  const path = pathToRead(planning, fileOf(id))
  return path === undefined ? undefined : readFileIfThere(path)?.toString('utf8')
}

export function showCapsule(planning: Planning, id: string): string {
  return logged(planning, 'capsule', ['show', 'show-failed'], id, () => {
    const text = readCapsule(planning, id)
    if (text === undefined) throw unknownCapsules(planning, [id])
    return text
  })
}

export function listCapsules(planning: Planning): string[] {
  const folder = pathToRead(planning, FILES.capsules)
  if (folder === undefined) return []
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.md') && isId(name.slice(0, -3)))
      .map((name) => name.slice(0, -3))
      .sort()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw diskError(folder, error)
  }
}

type FoundClosure =
  | { readonly ok: true; readonly capsules: readonly Capsule[] }
  | { readonly ok: false; readonly missing: readonly string[]; readonly cycle: readonly string[] | undefined }

/** The closure of `ids`, dependencies first, or what stands in its way. */
export function findClosure(planning: Planning, ids: readonly string[]): FoundClosure {
  const capsules = new Map<string, Capsule>()
  const read = capsuleReader(planning)
  const closure = closureOf(
    ids.map((id) => parseId('capsule', id)),
    (id) => {
      const text = read(id)
      if (text === undefined) return undefined
      const capsule = parseCapsule(id, text)
      capsules.set(id, capsule)
      return capsule.depends
    },
  )
  return closure.ok ? { ok: true, capsules: closure.order.flatMap((id) => capsules.get(id) ?? []) } : closure
}

/** The same, for callers to whom an incomplete closure is an error; nothing of it is given out then. */
export function readClosure(planning: Planning, ids: readonly string[]): readonly Capsule[] {
  const found = findClosure(planning, ids)
  if (found.ok) return found.capsules
  if (found.cycle === undefined) throw unknownCapsules(planning, found.missing)
  throw new HeimdallError('CAPSULE_CYCLE', `capsules depend on each other in a circle: ${found.cycle.join(' -> ')}`, {
    hint: 'write one of them again without that dependency',
    details: { cycle: found.cycle },
  })
}

export function closureIds(planning: Planning, ids: readonly string[]): string[] {
  return logged(planning, 'capsule', ['deps', 'deps-failed'], ids.join(' '), () =>
    readClosure(planning, ids).map(({ id }) => id),
  )
}

/** The closure of `ids`, as an agent is given it. */
export function hydrate(planning: Planning, ids: readonly string[]): readonly Capsule[] {
  return logged(planning, 'capsule', ['hydrate', 'hydrate-failed'], ids.join(' '), () => readClosure(planning, ids))
}

/** The folder is resolved once: a closure of a thousand capsules would otherwise resolve it a thousand times. */
function capsuleReader(planning: Planning): (id: string) => string | undefined {
  const folder = pathToRead(planning, FILES.capsules)
  if (folder === undefined) return () => undefined
  return (id) => readFileIfThere(join(folder, `${id}.md`))?.toString('utf8')
}

function unknownCapsules(planning: Planning, ids: readonly string[]): HeimdallError {
  return new HeimdallError('CAPSULE_UNKNOWN', `unknown capsule: ${ids.join(', ')}`, {
    hint: didYouMean(ids[0] ?? '', listCapsules(planning), 'heimdall capsule list shows what there is'),
    details: { missing: ids },
  })
}
