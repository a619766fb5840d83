// "What would another policy have said?": the run's calls decided again by a policy that is pasted here.
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { ReplayReply } from '../../../src/hub/contract.ts'
import { ActDialog } from '../components/act-dialog.tsx'
import { Copy } from '../components/controls.tsx'
import { clockWithSeconds, plural } from '../components/format.ts'
import { post, segment } from '../data/client.ts'
import { cx } from '../components/cx.ts'
import css from './decisions.module.css'

interface ReplayProps {
  readonly run: string | undefined
  readonly onClose: () => void
}

const OUTCOMES: Readonly<Record<ReplayReply['rows'][number]['outcome'], string>> = {
  same: 'the same',
  stricter: 'refused now',
  looser: 'passed now',
  other: 'another rule',
  undecidable: 'cannot be known',
}

export function ReplayDialog({ run, onClose }: ReplayProps): ReactNode {
  const [policy, setPolicy] = useState('')
  const {
    mutate,
    error,
    data: reply,
  } = useMutation({ mutationFn: () => post<ReplayReply>(`runs/${segment(run ?? '')}/replay`, { policy }) })
  return (
    <ActDialog
      title="Replay under another policy"
      verb="Decide again"
      kind="start"
      isReady={policy.trim() !== '' && run !== undefined}
      error={error}
      onAct={() => mutate()}
      onClose={onClose}
      beside={
        <Copy text={`heimdall policy replay other-policy.yaml --run ${run ?? 'RUN'}`} className="button small mono" />
      }
    >
      <p className="second">
        Each recorded call of {run ?? 'the run that is selected'} is decided again by the policy below, and every
        decision that would differ is shown. Nothing is sent anywhere and nothing changes.
      </p>
      <label className="labelled">
        Policy, YAML or JSON
        <textarea className="field mono" rows={8} value={policy} onChange={(event) => setPolicy(event.target.value)} />
      </label>
      {reply !== undefined && <Outcome reply={reply} />}
    </ActDialog>
  )
}

function Outcome({
  reply: { policy, counts, rows, left_off: left, notes },
}: {
  readonly reply: ReplayReply
}): ReactNode {
  return (
    <div role="status">
      <p>
        <b>
          {plural(counts.total, 'call')} under {policy.name} {policy.version}:
        </b>{' '}
        {counts.same} the same, {counts.stricter} refused now, {counts.looser} passed now, {counts.other} by another
        rule or reason, {counts.undecidable} undecidable
      </p>
      {rows.length > 0 && (
        <div className={cx('scroll', css.replayRows)} role="region" aria-label="Decisions that differ" tabIndex={0}>
          <table className="table">
            <thead>
              <tr>
                <th>At</th>
                <th>Call</th>
                <th>Then</th>
                <th>Now</th>
                <th>Outcome</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr key={index}>
                  <td>{clockWithSeconds(row.at)}</td>
                  <td className="mono">
                    {row.server} {row.tool}
                  </td>
                  <td className="second">{row.recorded}</td>
                  <td className="second">{row.replayed ?? '–'}</td>
                  <td>{OUTCOMES[row.outcome]}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {left > 0 && <p className="meta">{left} more are not shown</p>}
      {notes.map((note) => (
        <p key={note} className="meta">
          {note}
        </p>
      ))}
    </div>
  )
}
