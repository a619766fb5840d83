// Passing work on and ending a session: both ask first, and both are on record as a person's.
import { type ReactNode, useState } from 'react'
import type { AgentCard } from '../../../src/hub/contract.ts'
import { segment } from '../live/api.ts'
import { useWatch } from '../live/hooks.ts'
import { ActDialog, useAct } from '../parts/act-dialog.tsx'

interface DialogProps {
  readonly agent: AgentCard
  readonly onClose: () => void
}

export function PassOnDialog({ agent, onClose }: DialogProps): ReactNode {
  const agents = useWatch((watch) => watch.order)
  const [to, setTo] = useState('')
  const [subject, setSubject] = useState('')
  const [body, setBody] = useState('')
  const { error, act } = useAct(onClose)
  const task = agent.task?.task_id ?? 'none'
  const isReady = to !== '' && subject.trim() !== '' && body.trim() !== ''
  return (
    <ActDialog
      title={`Pass ${agent.agent_id}’s work on`}
      verb="Pass on"
      kind="start"
      isReady={isReady}
      error={error}
      onAct={() => act('notes', { from: agent.agent_id, to, category: 'HANDOFF', task, subject, body })}
      onClose={onClose}
    >
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
        <input className="field" value={subject} maxLength={200} onChange={(event) => setSubject(event.target.value)} />
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
    </ActDialog>
  )
}

export function EndDialog({ agent, onClose }: DialogProps): ReactNode {
  const [reason, setReason] = useState('')
  const { error, act } = useAct(onClose)
  return (
    <ActDialog
      title={`End ${agent.agent_id}?`}
      verb="End it"
      kind="harm"
      isReady
      error={error}
      onAct={() => act(`agents/${segment(agent.agent_id)}/end`, reason === '' ? {} : { reason })}
      onClose={onClose}
    >
      <p className="second">
        Its program is asked to end and is ended after the grace time. Its claims are released; its files stay as they
        are
        {agent.uncommitted !== null && agent.uncommitted > 0 && `, ${agent.uncommitted} of them uncommitted`}.
      </p>
      <label className="labelled">
        Why, for the record
        <input className="field" value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </label>
    </ActDialog>
  )
}
