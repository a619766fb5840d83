// Dispatching a task from the page: a title, what to do, and what it may cost.
import { type ReactNode, useState } from 'react'
import { ActDialog, useAct } from '../parts/act-dialog.tsx'

export function DispatchDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [title, setTitle] = useState('')
  const [brief, setBrief] = useState('')
  const [priority, setPriority] = useState('normal')
  const [budget, setBudget] = useState('')
  const { error, act } = useAct(onClose)
  const tokens = budget === '' ? undefined : Number(budget.replaceAll(/[ ,_]/g, ''))
  const isBudgetWrong = tokens !== undefined && !(Number.isInteger(tokens) && tokens > 0)
  const isReady = title.trim() !== '' && brief.trim() !== '' && !isBudgetWrong
  const send = (): void =>
    act('tasks', { title, brief, priority, ...(tokens !== undefined && { tokens_budget: tokens }) })
  return (
    <ActDialog
      title="Dispatch a task"
      verb="Dispatch"
      kind="start"
      isReady={isReady}
      error={error}
      onAct={send}
      onClose={onClose}
    >
      <label className="labelled">
        Title
        <input className="field" value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
      </label>
      <label className="labelled">
        What is to be done, and how one sees that it is
        <textarea className="field" rows={5} value={brief} onChange={(event) => setBrief(event.target.value)} />
      </label>
      <div className="row">
        <label className="labelled grow">
          Priority
          <select className="field" value={priority} onChange={(event) => setPriority(event.target.value)}>
            {['low', 'normal', 'high', 'urgent'].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label className="labelled grow">
          Tokens at most
          <input
            className={isBudgetWrong ? 'field wrong' : 'field'}
            value={budget}
            inputMode="numeric"
            placeholder="no limit of its own"
            aria-invalid={isBudgetWrong}
            onChange={(event) => setBudget(event.target.value)}
          />
        </label>
      </div>
      {isBudgetWrong && <p className="is-clash">✕ a whole number of tokens</p>}
    </ActDialog>
  )
}
