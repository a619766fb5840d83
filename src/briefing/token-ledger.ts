// ledger.jsonl: one row per message or spawn with its cost in tokens, measured by us or declared by a caller.
import { hash } from 'node:crypto'
import { isoSeconds } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { CACHED_PREFIX_TOKENS_MIN, TABLE_LOCK_WAIT_MS } from '../limits.ts'
import { openAppendLog } from '../storage/append-log.ts'
import { withFileLock } from '../storage/file-lock.ts'
import { readLog } from '../storage/log-reader.ts'
import { pathToRead, pathToWrite } from '../storage/planning-folder.ts'
import { isObject } from '../plain-object.ts'
import { FILES, type Planning } from './planning.ts'
import { assertMeasured, measure, type Measured, type Tokenizer } from './tokens.ts'
import { checkText } from './values.ts'

/** The seed's columns first; the rest is ours. */
export interface LedgerRow {
  readonly ts: string
  readonly role: string
  readonly kind: string
  readonly tokens: number
  readonly msg_id?: string
  readonly source: 'measured' | 'declared'
  /** Which tokenizer counted; null where the caller did not say. */
  readonly tokenizer: string | null
  readonly run_id?: string
  /** How many of `tokens` a provider's prompt cache can serve: a long enough prefix that this run has sent before. */
  readonly cached_tokens?: number
  /** Names that prefix. */
  readonly prefix?: string
}

export interface TokenRow {
  readonly role: string
  readonly kind: string
  readonly msgId?: string | undefined
  readonly runId?: string | undefined
}

/** A number that the caller vouches for. */
export async function logDeclared(
  planning: Planning,
  entry: TokenRow,
  cost: {
    readonly tokens: number
    readonly cachedTokens?: number | undefined
    readonly tokenizer?: string | undefined
  },
): Promise<LedgerRow> {
  const row: LedgerRow = {
    ...seedColumns(planning, entry, cost.tokens),
    source: 'declared',
    tokenizer: cost.tokenizer ?? null,
    ...(entry.runId === undefined ? {} : { run_id: entry.runId }),
    ...(cost.cachedTokens === undefined ? {} : { cached_tokens: cost.cachedTokens }),
  }
  await append(planning, row)
  return row
}

/**
 * Counts `text` and writes it down, unless this run has a row for the same message already. `prefix` is the part of
 * the text, from its start, that other messages share.
 */
export async function logText(
  planning: Planning,
  entry: TokenRow,
  text: string,
  options: { readonly prefix?: string; readonly tokenizer?: Tokenizer | undefined } = {},
): Promise<LedgerRow | undefined> {
  const measured = measure(text, options.tokenizer)
  const prefix = options.prefix === undefined ? undefined : nameOf(options.prefix)
  const prefixTokens = options.prefix === undefined ? 0 : measure(options.prefix, options.tokenizer).tokens
  return await logMeasured(planning, entry, measured, prefix, prefixTokens)
}

/** The same for a command or a tool whose answer stands without the row: a ledger that cannot be written is a note. */
export async function noteText(planning: Planning, entry: TokenRow, text: string, prefix?: string): Promise<void> {
  try {
    await logText(planning, entry, text, prefix === undefined ? {} : { prefix })
  } catch (error) {
    if (!(error instanceof HeimdallError) || !error.code.startsWith('STORE_')) throw error
    planning.note(`note: tokens were not logged: ${error.message}`)
  }
}

export async function logMeasured(
  planning: Planning,
  entry: TokenRow,
  measured: Measured,
  prefix?: string,
  prefixTokens = 0,
): Promise<LedgerRow | undefined> {
  assertMeasured(measured)
  const path = pathToWrite(planning, FILES.ledger)
  // Looking and writing under one lock: two commands that saw the same message must not both write it down.
  return await withFileLock(
    path,
    async () => {
      const { rows } = readLedger(planning)
      const ofRun = rows.filter((row) => row.run_id === entry.runId)
      if (entry.msgId !== undefined && ofRun.some((row) => row.source === 'measured' && row.msg_id === entry.msgId))
        return undefined
      const isCached =
        prefix !== undefined && prefixTokens >= CACHED_PREFIX_TOKENS_MIN && ofRun.some((row) => row.prefix === prefix)
      const row: LedgerRow = {
        ...seedColumns(planning, entry, measured.tokens),
        source: 'measured',
        tokenizer: measured.tokenizer,
        ...(entry.runId === undefined ? {} : { run_id: entry.runId }),
        ...(prefix === undefined ? {} : { cached_tokens: isCached ? prefixTokens : 0, prefix }),
      }
      await append(planning, row)
      return row
    },
    { waitMs: TABLE_LOCK_WAIT_MS },
  )
}

function seedColumns(
  planning: Planning,
  entry: TokenRow,
  tokens: number,
): Pick<LedgerRow, 'ts' | 'role' | 'kind' | 'tokens' | 'msg_id'> {
  return {
    ts: isoSeconds(planning.clock.wallMs()),
    role: checkText('--role', entry.role, 256),
    kind: checkText('--kind', entry.kind, 256),
    tokens,
    ...(entry.msgId === undefined ? {} : { msg_id: checkText('--msg-id', entry.msgId, 1_024) }),
  }
}

async function append(planning: Planning, row: LedgerRow): Promise<void> {
  const log = openAppendLog(pathToWrite(planning, FILES.ledger), { mode: 0o644 })
  try {
    await log.appendDurably(JSON.stringify(row))
  } finally {
    log.close()
  }
  planning.log('ledger', 'log', `${row.role}/${row.kind}=${row.tokens}`)
}

export interface Ledger {
  readonly rows: readonly LedgerRow[]
  /** Lines that are no row: what a writer killed in mid-write left, or an edit by hand. They are kept and not counted. */
  readonly unreadable: number
}

export function readLedger(planning: Planning): Ledger {
  const path = pathToRead(planning, FILES.ledger)
  const rows: LedgerRow[] = []
  let unreadable = 0
  for (const { text, isTorn } of path === undefined ? [] : readLog(path)) {
    const row = isTorn ? undefined : parseRow(text)
    if (row === undefined) unreadable += 1
    else rows.push(row)
  }
  return { rows, unreadable }
}

/** A row of the seed's own tools has no source: its number was typed in, so it is declared. */
function parseRow(line: string): LedgerRow | undefined {
  let raw: unknown
  try {
    raw = JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  if (!isObject(raw)) return undefined
  const { ts, role, kind, tokens, msg_id, source, tokenizer, run_id, cached_tokens, prefix } = raw
  if (typeof role !== 'string' || typeof kind !== 'string' || !isCount(tokens)) return undefined
  return {
    ts: typeof ts === 'string' ? ts : '',
    role,
    kind,
    tokens,
    source: source === 'measured' ? 'measured' : 'declared',
    tokenizer: typeof tokenizer === 'string' ? tokenizer : null,
    ...(typeof msg_id === 'string' ? { msg_id } : {}),
    ...(typeof run_id === 'string' ? { run_id } : {}),
    ...(isCount(cached_tokens) ? { cached_tokens: Math.min(cached_tokens, tokens) } : {}),
    ...(typeof prefix === 'string' ? { prefix } : {}),
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

const nameOf = (prefix: string): string => hash('sha256', prefix, 'hex').slice(0, 16)
