// What an agent changed since its run began: files, and the difference of the one that is chosen.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useMemo, useRef } from 'react'
import type { AgentCard, ChangesReply } from '../../../src/hub/contract.ts'
import { segment } from '../live/api.ts'
import { useEvery, useHub, useHubNow } from '../live/hooks.ts'
import { Empty, Part } from '../parts/days.tsx'
import { clock } from '../parts/format.ts'
import { refine, usePlace } from '../shell/place.ts'
import { type DiffLine, readDiff } from './diff.ts'

const LOOK_EVERY_MS = 5_000

type LoadedChanges = ReturnType<typeof useChanges>

/** Asked for where the tab is: it says how many there are in the list. */
export function useChanges(agent: AgentCard) {
  const loaded = useHub<ChangesReply>(`agents/${segment(agent.agent_id)}/changes`)
  useEvery(LOOK_EVERY_MS, loaded.reload)
  return loaded
}

interface ChangesProps {
  readonly agent: AgentCard
  readonly loaded: LoadedChanges
}

export function Changes({ agent, loaded }: ChangesProps): ReactNode {
  return (
    <Part what="changes" loaded={loaded}>
      {(changes) =>
        changes.files.length === 0 ? (
          <Empty title="Nothing changed">
            {changes.since === null ? '' : 'Since the run began no file of its worktree differs.'}
          </Empty>
        ) : (
          <Files agent={agent} changes={changes} />
        )
      }
    </Part>
  )
}

function Files({ agent, changes }: { readonly agent: AgentCard; readonly changes: ChangesReply }): ReactNode {
  const { query } = usePlace()
  const now = useHubNow()
  const chosen = changes.files.find(({ path }) => path === query.get('file')) ?? changes.files[0]
  const outside = changes.files.filter(({ in_own_claims }) => !in_own_claims).length
  const sum = (of: 'added' | 'removed'): number => changes.files.reduce((total, file) => total + (file[of] ?? 0), 0)
  return (
    <div className="changes">
      <div className="changes-files">
        <p className="meta changes-sum">
          {changes.since !== null && `since the run began, ${clock(changes.since, now)} `}
          <span className="is-work">+{sum('added')}</span> <span className="is-clash">−{sum('removed')}</span>
        </p>
        <ul>
          {changes.files.map((file) => (
            <li key={file.path}>
              <button
                type="button"
                aria-pressed={file.path === chosen?.path}
                onClick={() => refine({ file: file.path })}
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
      </div>
      {chosen !== undefined && <FileDiff agent={agent} path={chosen.path} />}
    </div>
  )
}

function FileDiff({ agent, path }: { readonly agent: AgentCard; readonly path: string }): ReactNode {
  const loaded = useHub<ChangesReply>(`agents/${segment(agent.agent_id)}/changes`, { path })
  useEvery(LOOK_EVERY_MS, loaded.reload)
  return (
    <Part what="difference" loaded={loaded}>
      {({ diff, cut }) => <DiffLines text={diff ?? ''} isCut={cut} path={path} />}
    </Part>
  )
}

function DiffLines({
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
