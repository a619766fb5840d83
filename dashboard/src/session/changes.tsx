// What an agent changed since its run began, or since another time or commit: files, and the diff of the selected one.
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import type { AgentCard, ChangesReply } from '../../../src/hub/contract.ts'
import { Empty, QueryPart } from '../components/feedback.tsx'
import { type DiffLine, readDiff } from './diff.ts'
import { noteLook } from './last-looks.ts'
import { basisText, Since } from './since.tsx'
import { useHubNow } from '../data/clock.ts'
import { changesQuery } from '../data/queries.ts'
import { cx } from '../components/cx.ts'
import css from './session.module.css'

const route = getRouteApi('/session/$agent')

interface ChangesProps {
  readonly agent: AgentCard
  readonly query: UseQueryResult<ChangesReply>
}

export function Changes({ agent, query }: ChangesProps): ReactNode {
  const at = query.data?.at
  useEffect(() => {
    if (at !== undefined) noteLook(agent.agent_id, at)
  }, [agent.agent_id, at])
  return (
    <QueryPart what="changes" query={query}>
      {(changes) => <Files agent={agent} changes={changes} />}
    </QueryPart>
  )
}

/** Next to the tabs: since when, and how much. */
export function ChangesSum({ agent, query: { data } }: ChangesProps): ReactNode {
  const files = data?.files
  const sum = (of: 'added' | 'removed'): number => files?.reduce((total, file) => total + (file[of] ?? 0), 0) ?? 0
  return (
    <span className={cx('meta', css.changesSum)}>
      <Since agent={agent.agent_id} began={data?.run_began ?? agent.started_at} />
      {files !== undefined && (
        <>
          <span className="is-work">+{sum('added')}</span>
          <span className="is-clash">−{sum('removed')}</span>
        </>
      )}
    </span>
  )
}

interface FilesProps {
  readonly agent: AgentCard
  readonly changes: ChangesReply
}

function Files({ agent, changes }: FilesProps): ReactNode {
  const { file: wanted } = route.useSearch()
  const navigate = route.useNavigate()
  const now = useHubNow()
  const basis = basisText(changes, now)
  // A file inside its claims is likely its own change; for the others this is unknown.
  const files = [true, false].flatMap((isOwn) => changes.files.filter(({ in_own_claims }) => in_own_claims === isOwn))
  const chosen = files.find(({ path }) => path === wanted) ?? files[0]
  const outside = files.filter(({ in_own_claims }) => !in_own_claims).length
  if (chosen === undefined) return <Empty title="Nothing changed since then">{basis}</Empty>
  return (
    <div className="changes">
      <div className="changes-files">
        {changes.also_here.length > 0 && (
          <p className={css.changesShared}>
            <b>Shared working tree:</b> {changes.also_here.length + 1} agents work here; git does not tell whose a
            change is. What lies in its own claims stands first.
          </p>
        )}
        <ul>
          {files.map((file) => (
            <li key={file.path} className={file.in_own_claims ? 'own' : undefined}>
              <button
                type="button"
                aria-pressed={file.path === chosen.path}
                onClick={() =>
                  void navigate({ to: '.', search: (before) => ({ ...before, file: file.path }), replace: true })
                }
              >
                <span className="mono cut grow" title={file.path}>
                  {file.path}
                </span>
                {file.kind !== 'modified' && <span className="meta">{file.kind}</span>}
                <span className="is-work">{file.added === null ? '' : `+${file.added}`}</span>
                <span className="is-clash">{file.removed === null ? '' : `−${file.removed}`}</span>
              </button>
            </li>
          ))}
        </ul>
        <p className="meta">{outside === 0 ? 'All inside its own claims.' : `${outside} outside its own claims.`}</p>
        <p className={cx('meta', css.changesBasis)}>{basis}</p>
      </div>
      <FileDiff agent={agent} path={chosen.path} />
    </div>
  )
}

function FileDiff({ agent, path }: { readonly agent: AgentCard; readonly path: string }): ReactNode {
  const { since } = route.useSearch()
  const query = useQuery(changesQuery(agent.agent_id, since, path))
  return (
    <QueryPart what="diff" query={query}>
      {({ diff, cut }) => <DiffLines text={diff ?? ''} isCut={cut} path={path} />}
    </QueryPart>
  )
}

export function DiffLines({
  text,
  isCut,
  path,
}: {
  readonly text: string
  readonly isCut: boolean
  readonly path: string
}): ReactNode {
  const lines = useMemo(() => readDiff(text), [text])
  const scroll = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 18,
    overscan: 30,
  })
  return (
    <div className="diff" ref={scroll} tabIndex={0} role="region" aria-label={`Changes of ${path}`}>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const line = lines[index]
          return line === undefined ? null : <Line key={index} line={line} top={start} />
        })}
      </div>
      {lines.length === 0 && (
        <Empty title="No text to compare">It is new, binary, or without a change in its lines.</Empty>
      )}
      {isCut && <p className="meta">The rest is left out; it is too long.</p>}
    </div>
  )
}

const SIGN = { added: '+', removed: '-', same: '', place: '' } as const

function Line({ line, top }: { readonly line: DiffLine; readonly top: number }): ReactNode {
  return (
    <div className={`diff-line ${line.kind}`} style={{ transform: `translateY(${top}px)` }}>
      <span className="diff-number">{line.before ?? ''}</span>
      <span className="diff-number">{line.after ?? ''}</span>
      <span className="diff-sign">{SIGN[line.kind]}</span>
      <span className="diff-text">{line.text}</span>
    </div>
  )
}
