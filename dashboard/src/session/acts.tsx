// Passing work on and ending a session: both ask first, and both are on record as a person's.
import { type ReactNode, useState } from 'react'
import type { AgentCard } from '../../../src/hub/contract.ts'
import { HubError, post, segment } from '../live/api.ts'
import { useWatch } from '../live/hooks.ts'
import { Button } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'

interface DialogProps {
  readonly agent: AgentCard
  readonly onClose: () => void
}

/** Sends, and says in the box why it could not. */
function useAct(onClose: () => void): {
  readonly error: string | null
  readonly act: (path: string, body: unknown) => void
} {
  const [error, setError] = useState<string | null>(null)
  const act = (path: string, body: unknown): void =>
    void post(path, body).then(onClose, (reason: unknown) => {
      if (!(reason instanceof HubError)) throw reason
      setError(`${reason.code}: ${reason.message} ${reason.hint ?? ''}`)
    })
  return { error, act }
}

export function PassOnDialog({ agent, onClose }: DialogProps): ReactNode {
  const agents = useWatch((watch) => watch.order)
  const [to, setTo] = useState('')
  const [subject, setSubject] = useState('')
  const [body, setBody] = useState('')
  const { error, act } = useAct(onClose)
  const isReady = to !== '' && subject.trim() !== '' && body.trim() !== ''
  return (
    <Dialog label="Pass on" onClose={onClose}>
      <form
        className="keys"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isReady) return
          const task = agent.task?.task_id ?? 'none'
          act('notes', { from: agent.agent_id, to, category: 'HANDOFF', task, subject, body })
        }}
      >
        <h2>Pass {agent.agent_id}’s work on</h2>
        <label className="labelled">
          To
          <select value={to} onChange={(event) => setTo(event.target.value)} className="field">
            <option value="">choose an agent</option>
            {agents
              .filter((id) => id !== agent.agent_id)
              .map((id) => (
                <option key={id}>{id}</option>
              ))}
          </select>
        </label>
        <label className="labelled">
          Subject
          <input
            className="field"
            value={subject}
            maxLength={200}
            onChange={(event) => setSubject(event.target.value)}
          />
        </label>
        <label className="labelled">
          What it must know, and what comes next
          <textarea
            className="field"
            rows={4}
            value={body}
            maxLength={16_384}
            onChange={(event) => setBody(event.target.value)}
          />
        </label>
        {error !== null && (
          <p className="is-clash" role="alert">
            ✕ {error}
          </p>
        )}
        <div className="row">
          <button type="submit" className="button start" disabled={!isReady}>
            Pass on
          </button>
          <Button kind="plain" onPress={onClose}>
            Leave it
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

export function EndDialog({ agent, onClose }: DialogProps): ReactNode {
  const [reason, setReason] = useState('')
  const { error, act } = useAct(onClose)
  return (
    <Dialog label="End the session" onClose={onClose}>
      <form
        className="keys"
        onSubmit={(event) => {
          event.preventDefault()
          act(`agents/${segment(agent.agent_id)}/end`, reason === '' ? {} : { reason })
        }}
      >
        <h2>End {agent.agent_id}?</h2>
        <p className="second">
          Its program is asked to end and is ended after the grace time. Its claims are released; its files stay as they
          are
          {agent.uncommitted !== null && agent.uncommitted > 0 && `, ${agent.uncommitted} of them uncommitted`}.
        </p>
        <label className="labelled">
          Why, for the record
          <input className="field" value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
        </label>
        {error !== null && (
          <p className="is-clash" role="alert">
            ✕ {error}
          </p>
        )}
        <div className="row">
          <button type="submit" className="button harm">
            End it
          </button>
          <Button kind="plain" onPress={onClose}>
            Leave it
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
