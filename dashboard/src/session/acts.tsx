// Passing work on and ending a session: both ask first, and both are recorded as human.
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { AgentCard } from '../../../src/hub/contract.ts'
import { ActDialog } from '../components/act-dialog.tsx'
import { post, segment } from '../data/client.ts'
import { useStore } from '../data/store.ts'

interface DialogProps {
  readonly agent: AgentCard
  readonly onClose: () => void
}

export function PassOnDialog({ agent, onClose }: DialogProps): ReactNode {
  const agents = useStore((state) => state.order)
  const [to, setTo] = useState('')
  const [subject, setSubject] = useState('')
  const [body, setBody] = useState('')
  const task = agent.task?.task_id ?? 'none'
  const { mutate, error } = useMutation({
    mutationFn: () => post('notes', { from: agent.agent_id, to, category: 'HANDOFF', task, subject, body }),
    onSuccess: onClose,
  })
  const isReady = to !== '' && subject.trim() !== '' && body.trim() !== ''
  return (
    <ActDialog
      title={`Pass ${agent.agent_id}’s work on`}
      verb="Pass on"
      kind="start"
      isReady={isReady}
      error={error}
      onAct={() => mutate()}
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
  const { mutate, error } = useMutation({
    mutationFn: () => post(`agents/${segment(agent.agent_id)}/end`, reason === '' ? {} : { reason }),
    onSuccess: onClose,
  })
  return (
    <ActDialog
      title={`End ${agent.agent_id}?`}
      verb="End it"
      kind="harm"
      isReady
      error={error}
      onAct={() => mutate()}
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
