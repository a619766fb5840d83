// What a run had changed when it ended: names of all files, and diffs of what was committed.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RunChangesReply, RunRow } from '../../../src/hub/contract.ts'
import { Empty, Loading, QueryPart } from '../components/feedback.tsx'
import { plural } from '../components/format.ts'
import { DiffLines } from '../session/changes.tsx'
import { runChangesQuery } from '../data/queries.ts'
import { cx } from '../components/cx.ts'
import css from './timeline.module.css'

const route = getRouteApi('/timeline/{-$run}')

export function RunChanges({ run }: { readonly run: RunRow }): ReactNode {
  const { file: wanted } = route.useSearch()
  const list = useQuery({ ...runChangesQuery(run.run_id), enabled: run.ended_at !== null })
  const file = wanted ?? list.data?.noted?.files[0]?.path
  const diff = useQuery({ ...runChangesQuery(run.run_id, file), enabled: file !== undefined })
  return (
    <section className={cx('pane', css.runChanges)} aria-label="Changes of the run">
      <header>
        <h3>Changes</h3>
        <span className="second grow cut">{list.data === undefined ? '' : summary(list.data)}</span>
      </header>
      {run.ended_at === null ? (
        <p className="meta padded">
          It goes on: what it has changed so far is beside{' '}
          <Link
            className="is-work underlined"
            to="/session/$agent"
            params={{ agent: run.agent_id ?? '' }}
            search={{ tab: 'changes' }}
          >
            its terminal
          </Link>
          .
        </p>
      ) : (
        <QueryPart what="changes of the run" query={list}>
          {({ noted }) => <Noted noted={noted} shown={diff.data} file={file} />}
        </QueryPart>
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
  const navigate = route.useNavigate()
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
              <button
                type="button"
                aria-pressed={path === file}
                onClick={() =>
                  void navigate({ to: '.', search: (before) => ({ ...before, file: path }), replace: true })
                }
              >
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
