// Since when changes are shown: the beginning of the run, the last look, a time or a commit. It is part of the address.
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import type { ChangesReply } from '../../../src/hub/contract.ts'
import { clock } from '../components/format.ts'
import { lastLookAt } from './last-looks.ts'
import { useHubNow } from '../data/clock.ts'
import css from './session.module.css'

const route = getRouteApi('/session/$agent')

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text)

type Asking = 'time' | 'commit'

interface SinceProps {
  readonly agent: string
  /** When the run began, if known. */
  readonly began: string | null
}

export function Since({ agent, began }: SinceProps): ReactNode {
  const { since = null } = route.useSearch()
  const navigate = route.useNavigate()
  const show = (text: string): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, since: text, file: undefined }), replace: true })
  const now = useHubNow()
  const [asking, setAsking] = useState<Asking | null>(null)
  const looked = lastLookAt(agent)
  const named = since === null ? '' : since === looked || since === 'HEAD' ? since : 'given'
  const choose = (value: string): void => {
    setAsking(value === 'time' || value === 'commit' ? value : null)
    if (value !== 'time' && value !== 'commit' && value !== 'given') show(value)
  }
  return (
    <span className={css.since}>
      <label>
        since{' '}
        <select className="field small" value={asking ?? named} onChange={(event) => choose(event.target.value)}>
          <option value="">{began === null ? 'the last commit' : `the run began, ${clock(began, now)}`}</option>
          {looked !== null && <option value={looked}>you last looked, {clock(looked, now)}</option>}
          {began !== null && <option value="HEAD">the last commit</option>}
          {named === 'given' && since !== null && (
            <option value="given">{isTime(since) ? clock(since, now) : `commit ${since.slice(0, 12)}`}</option>
          )}
          <option value="time">a time…</option>
          <option value="commit">a commit…</option>
        </select>
      </label>
      {asking !== null && (
        <Ask
          what={asking}
          now={now}
          onDone={(text) => {
            show(text)
            setAsking(null)
          }}
        />
      )}
    </span>
  )
}

interface AskProps {
  readonly what: Asking
  readonly now: number
  readonly onDone: (since: string) => void
}

function Ask({ what, now, onDone }: AskProps): ReactNode {
  const [text, setText] = useState(what === 'time' ? localTime(now) : '')
  const ms = what === 'time' ? Date.parse(text) : 0
  const isReady = text.trim() !== '' && !Number.isNaN(ms)
  const send = (event: FormEvent): void => {
    event.preventDefault()
    if (!isReady) return
    onDone(what === 'time' ? new Date(ms).toISOString() : text.trim())
  }
  return (
    <form className="row since-ask" onSubmit={send}>
      <input
        className="field small"
        type={what === 'time' ? 'datetime-local' : 'text'}
        step={1}
        maxLength={200}
        aria-label={what === 'time' ? 'Since when' : 'Since which commit'}
        placeholder="main, v1.2, 1a2b3c4"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button small" disabled={!isReady}>
        Show
      </button>
    </form>
  )
}

/** As the field of a browser takes it: in the reader's zone, to the minute. */
function localTime(ms: number): string {
  const zoneMs = new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - zoneMs).toISOString().slice(0, 16)
}

/** What the list rests on, in a sentence; nothing here is guessed. */
export function basisText({ basis, base, since, older }: ChangesReply, now: number): string {
  const commit = base === 'HEAD' ? 'the last commit' : base.slice(0, 8)
  const then = since === null ? '' : clock(since, now)
  const against = {
    noted: `Against ${commit}, where this checkout stood when the run began, as was noted then.`,
    reflog: `Against ${commit}, where this checkout stood at ${then}, by git’s reflog.`,
    history: `Against ${commit}, the last commit of ${then}: no reflog reaches back so far.`,
    named: `Against commit ${commit}; new files have no commit, and all of them are shown.`,
    head: 'Against the last commit: only what is not committed.',
  }[basis]
  const left =
    since === null
      ? ''
      : ` Of what is not committed, files that were touched after ${then}${older === 0 ? '' : `; ${older} older left out`}. Lines of such a file may be older.`
  return `${against}${left}`
}
