// A project on an engine: made by an owner, with a role of its own for its members, which can call functions and nothing else.
import { randomBytes } from 'node:crypto'
import { HeimdallError } from '../errors.ts'
import type { EntryPlace } from '../coordination/shared-log.ts'
import type { Sql } from './engine-connection.ts'
import { ENGINE_VERSION, grantsTo, SCHEMA } from './engine-schema.ts'
import { FORMAT, RULES } from './log-version.ts'

export interface NewProject {
  readonly project: string
  /** For people. */
  readonly name: string
  /** Where the log begins: after what one machine has done alone. */
  readonly at: EntryPlace
}

interface MadeProject {
  readonly project: string
  readonly role: string
  readonly password: string
}

/** Random, and never a path: it says nothing of a machine, and nobody guesses it. */
export const newProjectId = (): string => randomBytes(12).toString('hex')

/** The schema is made with the first project of a database. */
export async function makeProject(sql: Sql, { project, name, at }: NewProject): Promise<MadeProject> {
  const role = `heimdall_${project.slice(0, 12)}`
  const password = randomBytes(24).toString('hex')
  await sql.begin(async (inside) => {
    await inside.unsafe('SELECT pg_advisory_xact_lock(4861)')
    const [there] = await inside.unsafe(`SELECT to_regclass('heimdall.projects') IS NOT NULL AS made`)
    if (there?.['made'] !== true) await inside.unsafe(SCHEMA)
    else await refuseOther(inside)
    await inside.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
    await inside.unsafe(grantsTo(role))
    await inside`INSERT INTO heimdall.projects (id, name, member_role, engine_version, seq, entry_id, format, rules)
      VALUES (${project}, ${name}, ${role}, ${ENGINE_VERSION}, ${at.seq}, ${at.id}, ${FORMAT}, ${RULES})`
    await inside`INSERT INTO heimdall.lines (project) VALUES (${project})`
    if (at.seq > 0)
      await inside`INSERT INTO heimdall.entries (project, seq, id, format, member) VALUES (${project}, ${at.seq}, ${at.id}, ${FORMAT}, '')`
  })
  return { project, role, password }
}

/** Functions of another version are called otherwise, and others use them. */
async function refuseOther(sql: Pick<Sql, 'unsafe'>): Promise<void> {
  const [row] = await sql.unsafe('SELECT max(engine_version) AS version FROM heimdall.projects')
  const version = Number(row?.['version'] ?? ENGINE_VERSION)
  if (version !== ENGINE_VERSION)
    throw new HeimdallError(
      'FLEET_NEWER',
      `this database has version ${version} of a fleet's tables, this program knows ${ENGINE_VERSION}`,
      { hint: 'make the fleet in another database of the server, or use the version that made these' },
    )
}

/** The URL that members use: the owner's, with the project's own role. */
export function memberUrl(ownerUrl: string, { role, password }: MadeProject): string {
  const url = new URL(ownerUrl)
  url.username = role
  url.password = password
  return url.href
}
