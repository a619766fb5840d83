// What is done with an owner's URL: one transaction of one owner at a time, and refusals in words for an owner.
import { systemClock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { Connection, type HeldConnection } from './engine-connection.ts'

/** Members are told to ask for a join line; an owner has none. */
const OWNER_HINTS: readonly (readonly [RegExp, string])[] = [
  [/^42501/, 'an owner may create roles (CREATEROLE) and a schema in this database (GRANT CREATE ON DATABASE)'],
  [/^(28|08)/, 'it does not let this role in: look at role and password in the URL'],
  [/^3D/, 'the server has no such database: CREATE DATABASE makes it'],
]

export async function asOwner<T>(url: string, act: (ask: HeldConnection['ask']) => Promise<T>): Promise<T> {
  // Nothing is prepared, for all of it is asked once: a pooler may stand in between.
  const engine = new Connection({ url, isPooled: true }, systemClock)
  try {
    return await engine.transact(async (ask) => {
      // Whoever comes later sees what the one before has made: also one whose answer was lost on the way.
      await ask((sql) => sql.unsafe('SELECT pg_advisory_xact_lock(4861)').execute())
      return act(ask)
    })
  } catch (error) {
    throw inOwnersWords(error)
  } finally {
    await engine.drop()
  }
}

function inOwnersWords(error: unknown): unknown {
  if (error instanceof HeimdallError && error.code === 'OUTCOME_UNKNOWN')
    return new HeimdallError(error.code, error.message, {
      hint: 'run the command again: it finds what became of this one',
      cause: error.cause,
    })
  if (!(error instanceof HeimdallError) || error.code !== 'ENGINE_REFUSED') return error
  const code = String((error.cause as { code?: unknown } | undefined)?.code)
  const [, hint] = OWNER_HINTS.find(([pattern]) => pattern.test(code)) ?? []
  return hint === undefined ? error : new HeimdallError(error.code, error.message, { hint, cause: error.cause })
}
