// What the commands of briefing share: the planning folder of the project, who is speaking, and writing down what a text cost.
import { openPlanning, type Planning } from '../briefing/planning.ts'
import type { LedgerRow, TokenRow } from '../briefing/token-ledger.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { findProject } from '../paths.ts'
import { didYouMean } from '../suggest.ts'
import type { Context } from './command.ts'

export function planningOf(context: Context): Planning {
  return openPlanning(findProject(context.cwd, context.env), context.clock, context.note)
}

const variable = (context: Context, name: string): string | undefined => {
  const value = context.env[name]
  return value === '' ? undefined : value
}

/** Who pays for a text; without one nothing is written to the token ledger. */
export function roleOf(context: Context, flag: string | undefined): string | undefined {
  return flag ?? variable(context, 'HEIMDALL_ROLE')
}

export const runIdOf = (context: Context): string | undefined => variable(context, 'SUB_RUN_ID')

/** The run whose rows are summed: the one that is named, or else the one that this command is part of. */
export function runToSum(
  context: Context,
  { run, all }: { readonly run?: string | undefined; readonly all?: boolean | undefined },
  rows: readonly Pick<LedgerRow, 'run_id'>[],
): string | undefined {
  const known = new Set(rows.flatMap((row) => row.run_id ?? []))
  // Nobody has paid for anything in it yet: of the run that this is, that is true and no mistake.
  if (run !== undefined && run !== runIdOf(context) && !known.has(run))
    throw new HeimdallError('RUN_NOT_FOUND', `the token ledger has no row of a run ${printable(run)}`, {
      hint: didYouMean(run, [...known], 'without --run, rows of all runs are summed'),
    })
  return run ?? (all === true ? undefined : runIdOf(context))
}

/** Who says so, for a fact. */
export function authorOf(context: Context, flag: string | undefined): string | null {
  const names = ['HEIMDALL_HAID', 'HEIMDALL_AGENT_ID', 'HEIMDALL_ROLE'].map((name) => variable(context, name))
  return flag ?? names.find((name) => name !== undefined) ?? null
}

/** `a,b` as a list; blanks and empty entries are no ids. */
export function listOf(csv: string | undefined): string[] {
  return (csv ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** An id for a message whose author gave none: time and process, as readable as the rest of the log. */
export function newMessageId(context: Context, prefix: string): string {
  return `${prefix}-${new Date(context.clock.wallMs()).toISOString().replaceAll(/\D/g, '')}-${process.pid}`
}

/** Measures `text` and logs it for the role, if there is one. The text itself is not held back by a ledger that cannot be written. */
export async function logCost(
  context: Context,
  planning: Planning,
  entry: Omit<TokenRow, 'role' | 'runId'> & { readonly role: string | undefined },
  text: string,
  prefix?: string,
): Promise<void> {
  const role = roleOf(context, entry.role)
  if (role === undefined) return
  const { logText } = await import('../briefing/token-ledger.ts')
  try {
    await logText(planning, { ...entry, role, runId: runIdOf(context) }, text, prefix === undefined ? {} : { prefix })
  } catch (error) {
    if (!(error instanceof HeimdallError) || !error.code.startsWith('STORE_')) throw error
    context.note(`note: the token ledger was not written: ${error.message}`)
  }
}
