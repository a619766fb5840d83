// What a run that is over has changed, as it was noted when it ended: names of all files, and the lines of what was committed.
import type { ReactNode } from 'react'
import type { RunChangesReply, RunRow } from '../../../src/hub/contract.ts'
import { segment } from '../live/api.ts'
import { useHub } from '../live/hooks.ts'
import { Empty, Loading, Part } from '../parts/days.tsx'
import { plural } from '../parts/format.ts'
import { DiffLines } from '../session/changes.tsx'
import { placeLink, refine, usePlace } from '../shell/place.ts'

export function RunChanges({ run }: { readonly run: RunRow }): ReactNode {
  const { query } = usePlace()
  const path = `runs/${segment(run.run_id)}/changes`
  const listed = useHub<RunChangesReply>(run.ended_at === null ? null : path)
  const file = query.get('file') ?? listed.data?.noted?.files[0]?.path
  const loaded = useHub<RunChangesReply>(file === undefined ? null : path, { path: file })
  return (
    <section className="pane run-changes" aria-label="Changes of the run">
      <header>
        <h3>Changes</h3>
        <span className="second grow cut">{listed.data === undefined ? '' : summary(listed.data)}</span>
      </header>
      {run.ended_at === null ? (
        <p className="meta padded">
          It goes on: what it has changed so far is beside{' '}
          <a className="is-work underlined" href={placeLink('session', run.agent_id ?? '', { tab: 'changes' })}>
            its terminal
          </a>
          .
        </p>
      ) : (
        <Part what="changes of the run" loaded={listed}>
          {({ noted }) => <Noted noted={noted} shown={loaded.data} file={file} />}
        </Part>
      )}
    </section>
  )
}

const shortCommit = (commit: string | null): string => commit?.slice(0, 8) ?? 'nothing'

function summary({ noted }: RunChangesReply): string {
  if (noted === null || noted.total === 0) return ''
  const { commits, commit_before: before, commit_after: after } = noted
  const made = commits === null || commits === 0 ? 'no commit' : plural(commits, 'commit')
  return `${plural(noted.total, 'file')}, ${made}${before === after ? '' : `, ${shortCommit(before)} to ${shortCommit(after)}`}; noted when the run ended`
}

interface NotedProps {
  readonly noted: RunChangesReply['noted']
  /** With the lines of the chosen file; not while they are asked for. */
  readonly shown: RunChangesReply | undefined
  readonly file: string | undefined
}

function Noted({ noted, shown, file }: NotedProps): ReactNode {
  if (noted === null)
    return <Empty title="Nothing was noted">What a run changes is noted when it ends, in a git repository.</Empty>
  if (noted.files.length === 0) return <Empty title="It changed nothing" />
  const chosen = noted.files.find(({ path }) => path === file)
  return (
    <div className="changes">
      <div className="changes-files">
        <ul>
          {noted.files.map(({ path, added, removed, is_committed: isCommitted }) => (
            <li key={path}>
              <button type="button" aria-pressed={path === file} onClick={() => refine({ file: path })}>
                <span className="mono cut grow" title={path}>
                  {path}
                </span>
                {!isCommitted && <span className="meta">not committed</span>}
                <span className="is-work">{added === null ? '' : `+${added}`}</span>
                <span className="is-clash">{removed === null ? '' : `−${removed}`}</span>
              </button>
            </li>
          ))}
        </ul>
        {noted.total > noted.files.length && (
          <p className="meta">and {plural(noted.total - noted.files.length, 'more file')}.</p>
        )}
      </div>
      {chosen === undefined ? (
        <p className="meta padded">None of these files is of the name that the link has.</p>
      ) : shown === undefined ? (
        <Loading what="its lines" />
      ) : shown.diff === null ? (
        <p className="second padded">
          {chosen.is_committed
            ? 'Git does not have these commits any more.'
            : 'It was not committed when the run ended: that it was changed is on record, what stood in it is not.'}
        </p>
      ) : (
        <DiffLines text={shown.diff} isCut={shown.cut} path={chosen.path} />
      )}
    </div>
  )
}
