// The symbol table: short ids for paths, criteria and invariants that briefs would otherwise repeat.
import { HeimdallError } from '../errors.ts'
import { parseId, printable } from '../ids.ts'
import { VALUE_BYTES_MAX } from '../limits.ts'
import { isObject } from '../plain-object.ts'
import { FILES, logged, type Planning } from './planning.ts'
import { unescapeColumn } from '../storage/columns.ts'
import { didYouMean } from '../suggest.ts'
import { parseObject, readTable, type TableFile, updateTable } from './state-file.ts'
import { checkText } from './values.ts'

export const SYMBOLS: TableFile<null> = {
  file: FILES.symbols,
  field: 'symbols',
  readExtra: () => null,
  writeExtra: () => ({}),
}

export const checkSymbolValue = (value: string): string => checkText('the value', value, VALUE_BYTES_MAX)

/** All entries in the order of the table. */
export function listSymbols(planning: Planning): Map<string, string> {
  return readTable(planning, SYMBOLS).entries
}

export function lookUpSymbol(planning: Planning, id: string): string {
  return logged(planning, 'resolve', ['lookup', 'lookup-failed'], id, () => {
    const known = listSymbols(planning)
    const value = known.get(id)
    if (value === undefined || value === '') throw unknownSymbol(id, known)
    return value
  })
}

/** The first id of the table whose value is exactly this one. */
export function findSymbolOf(planning: Planning, value: string): string {
  for (const [id, candidate] of listSymbols(planning))
    if (candidate === value) {
      planning.log('resolve', 'reverse', `${value}->${id}`)
      return id
    }
  planning.log('resolve', 'reverse-failed', `${value} SYMBOL_UNKNOWN`)
  throw new HeimdallError('SYMBOL_UNKNOWN', `no symbol has the value ${printable(value)}`)
}

export async function setSymbol(planning: Planning, id: string, value: string): Promise<void> {
  await importSymbols(planning, new Map([[id, value]]))
}

/** All of them or none: one bad entry refuses the whole set before anything is written. */
export async function importSymbols(planning: Planning, entries: ReadonlyMap<string, string>): Promise<void> {
  for (const [id, value] of entries) {
    parseId('symbol', id)
    checkSymbolValue(value)
  }
  await updateTable(planning, SYMBOLS, (table) => {
    for (const [id, value] of entries) table.entries.set(id, value)
    return true
  })
  for (const [id, value] of entries) planning.log('resolve', 'set', `${id}=${value}`)
}

export async function removeSymbol(planning: Planning, id: string): Promise<void> {
  if (!(await updateTable(planning, SYMBOLS, ({ entries }) => entries.delete(id))))
    throw unknownSymbol(id, listSymbols(planning))
  planning.log('resolve', 'rm', id)
}

/** Either rows as `list` prints them (`id<TAB>value`), or a JSON object, or a whole symbols.json. */
export function parseImport(bytes: Uint8Array): Map<string, string> {
  const text = Buffer.from(bytes).toString('utf8')
  return text.trimStart().startsWith('{') ? importObject(bytes) : importRows(text)
}

function importObject(bytes: Uint8Array): Map<string, string> {
  const outer = parseObject('the import', bytes)
  const table = isObject(outer['symbols']) ? outer['symbols'] : outer
  return new Map(
    Object.entries(table).map(([id, value]) => {
      if (typeof value === 'string') return [id, value]
      throw new HeimdallError('VALUE_INVALID', `the value of ${printable(id)} is not a text`)
    }),
  )
}

function importRows(text: string): Map<string, string> {
  const entries = new Map<string, string>()
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    if (line === '') continue
    const columns = line.split('\t')
    const [id, value] = columns
    if (id === undefined || value === undefined || columns.length !== 2)
      throw new HeimdallError('VALUE_INVALID', `line ${index + 1} is not id<TAB>value: ${printable(line)}`)
    if (entries.has(id))
      throw new HeimdallError('VALUE_INVALID', `line ${index + 1} names ${printable(id)} a second time`)
    entries.set(id, unescapeColumn(value))
  }
  return entries
}

/** The grammar is checked when an id is set; one that an older tool put into the table is found all the same. */
function unknownSymbol(id: string, known: ReadonlyMap<string, string>): HeimdallError {
  parseId('symbol', id)
  return new HeimdallError('SYMBOL_UNKNOWN', `unknown symbol: ${id}`, {
    hint: didYouMean(id, [...known.keys()], 'heimdall symbol list shows the table'),
  })
}
