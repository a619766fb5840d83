// A project on an engine: made by an owner, with a role of its own for its members, which can call functions and nothing else.
import { randomBytes } from 'node:crypto'
import { HeimdallError } from '../errors.ts'
import type { EntryPlace } from '../coordination/shared-log.ts'
import { printable } from '../ids.ts'
import type { AskEngine } from './engine-connection.ts'
import { ENGINE_VERSION, grantsTo, revokesFrom, SCHEMA } from './engine-schema.ts'
import { FORMAT, RULES } from './log-version.ts'

export interface NewProject {
  readonly project: string
  /** For people. */
  readonly name: string
  /** Where the log begins: after what one machine has done alone. */
  readonly at: EntryPlace
  /** First commits of the repository; none where nobody could say. */
  readonly roots?: readonly string[] | undefined
}

/** For an owner who has to say which one is meant. */
export interface ProjectFacts {
  readonly project: string
  readonly name: string
  readonly seq: number
  readonly members: number
}

interface MemberRole {
  readonly role: string
  readonly password: string
}

/** Random, and never a path: it says nothing of a machine, and nobody guesses it. */
export const newProjectId = (): string => randomBytes(12).toString('hex')

const newRole = (project: string): MemberRole => ({
  role: `heimdall_${project.slice(0, 12)}_${randomBytes(3).toString('hex')}`,
  password: randomBytes(24).toString('hex'),
})

/** In an owner's transaction. The schema is made with the first project of a database; what a create that failed has left of this one goes. */
export async function makeProject(
  ask: AskEngine,
  { project, name, at, roots = [] }: NewProject,
): Promise<MemberRole & { readonly project: string }> {
  const made = newRole(project)
  await removeProject(ask, project)
  if (await hasSchema(ask)) await refuseOther(ask)
  else await ask((sql) => sql.unsafe(SCHEMA).execute())
  await makeRole(ask, made)
  await ask((sql) =>
    sql`INSERT INTO heimdall.projects (id, name, roots, member_role, engine_version, seq, entry_id, format, rules)
    VALUES (${project}, ${name}, ${roots.join(' ')}, ${made.role}, ${ENGINE_VERSION}, ${at.seq}, ${at.id}, ${FORMAT}, ${RULES})`.execute(),
  )
  await ask((sql) => sql`INSERT INTO heimdall.lines (project) VALUES (${project})`.execute())
  if (at.seq > 0)
    await ask((sql) =>
      sql`INSERT INTO heimdall.entries (project, seq, id, format, member)
      VALUES (${project}, ${at.seq}, ${at.id}, ${FORMAT}, '')`.execute(),
    )
  return { project, ...made }
}

/** Members get in by another role from here on; whoever has the old one has nothing, also while it is connected. */
export async function giveNewRole(ask: AskEngine, project: string): Promise<MemberRole> {
  const made = newRole(project)
  const [row] = await ask((sql) =>
    sql<{ role: string }[]>`SELECT member_role AS role FROM heimdall.projects WHERE id = ${project}`.execute(),
  )
  await makeRole(ask, made)
  await ask((sql) => sql`UPDATE heimdall.projects SET member_role = ${made.role} WHERE id = ${project}`.execute())
  if (row !== undefined) {
    await ask((sql) => sql.unsafe(revokesFrom(row.role)).execute())
    await dropRole(ask, row.role)
  }
  return made
}

/** All that are in the owner's database. */
export async function projectsIn(ask: AskEngine): Promise<ProjectFacts[]> {
  if (!(await hasSchema(ask))) return []
  const rows = await ask((sql) =>
    sql<(Omit<ProjectFacts, 'seq'> & { seq: string })[]>`SELECT p.id AS project, p.name, p.seq,
      (SELECT count(*)::int FROM heimdall.members m WHERE m.project = p.id AND m.gone IS NULL) AS members
      FROM heimdall.projects p ORDER BY p.created`.execute(),
  )
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }))
}

async function makeRole(ask: AskEngine, { role, password }: MemberRole): Promise<void> {
  await ask((sql) => sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'; ${grantsTo(role)}`).execute())
}

/** With its role; and with the last project of a database the schema. */
export async function removeProject(ask: AskEngine, project: string): Promise<void> {
  if (!(await hasSchema(ask))) return
  const [row] = await ask((sql) =>
    sql<{ role: string; others: number }[]>`SELECT member_role AS role,
    (SELECT count(*)::int FROM heimdall.projects WHERE id <> ${project}) AS others
    FROM heimdall.projects WHERE id = ${project}`.execute(),
  )
  if (row === undefined) return
  for (const table of ['annex', 'snapshot_parts', 'snapshots', 'members', 'signs', 'entries', 'lines'])
    await ask((sql) => sql`DELETE FROM heimdall.${sql(table)} WHERE project = ${project}`.execute())
  await ask((sql) => sql`DELETE FROM heimdall.projects WHERE id = ${project}`.execute())
  await ask((sql) => sql.unsafe(row.others === 0 ? 'DROP SCHEMA heimdall CASCADE' : revokesFrom(row.role)).execute())
  await dropRole(ask, row.role)
}

/** Asked of the catalogue: a name in a schema of somebody else's is an error and no answer. */
async function hasSchema(ask: AskEngine): Promise<boolean> {
  const [row] = await ask((sql) =>
    sql<{ owner: string; may: boolean; me: string }[]>`
    SELECT pg_get_userbyid(nspowner) AS owner, pg_has_role(nspowner, 'USAGE') AS may, current_user AS me
    FROM pg_namespace WHERE nspname = 'heimdall'`.execute(),
  )
  if (row?.may === false)
    throw new HeimdallError(
      'ENGINE_REFUSED',
      `the fleets of this database belong to role ${printable(row.owner)}, and this URL is of ${printable(row.me)}`,
      { hint: `use a URL of ${printable(row.owner)}, or make the fleet in another database of this server` },
    )
  return row !== undefined
}

/** What a member has made under it besides is none of ours to drop: then the role stays, and nobody gets in with it. */
async function dropRole(ask: AskEngine, role: string): Promise<void> {
  await ask((sql) => sql.unsafe('SAVEPOINT role').execute())
  try {
    await ask((sql) => sql.unsafe(`DROP ROLE ${role}`).execute())
  } catch (error) {
    if (!(error instanceof HeimdallError) || (error.cause as { code?: unknown } | undefined)?.code !== DEPENDED_ON)
      throw error
    await ask((sql) => sql.unsafe(`ROLLBACK TO SAVEPOINT role; ALTER ROLE ${role} NOLOGIN PASSWORD NULL`).execute())
  }
}

const DEPENDED_ON = '2BP01'

/** Functions of another version are called otherwise, and others use them. */
async function refuseOther(ask: AskEngine): Promise<void> {
  const [row] = await ask((sql) => sql.unsafe('SELECT max(engine_version) AS version FROM heimdall.projects').execute())
  const version = Number(row?.['version'] ?? ENGINE_VERSION)
  if (version !== ENGINE_VERSION)
    throw new HeimdallError(
      'FLEET_NEWER',
      `this database has version ${version} of a fleet's tables, this program knows ${ENGINE_VERSION}`,
      { hint: 'make the fleet in another database of the server, or use the version that made these' },
    )
}

/** The URL that members use: the owner's, with the project's own role. */
export function memberUrl(ownerUrl: string, { role, password }: MemberRole): string {
  const url = new URL(ownerUrl)
  url.username = role
  url.password = password
  return url.href
}

/** The project that is named, else this machine's own, else the only one of the database. */
export function meantProject(
  projects: readonly ProjectFacts[],
  name: string | undefined,
  own: string | undefined,
): ProjectFacts {
  const asked = name ?? own
  const found = projects.filter(({ project, name }) => asked === undefined || [project, name].includes(asked))
  const [one] = found
  if (one !== undefined && found.length === 1) return one
  const problem = asked === undefined ? 'this database has no fleet' : `this database has no fleet ${printable(asked)}`
  throw new HeimdallError(
    'FLEET_UNKNOWN',
    found.length > 1 ? `${found.length} fleets of this database match` : problem,
    {
      hint:
        projects.length === 0
          ? 'heimdall fleet create makes one; check the database in the URL'
          : `name one with --project ID: ${projects.map(({ project, name }) => `${project} (${printable(name)})`).join(', ')}`,
      details: { projects },
    },
  )
}
