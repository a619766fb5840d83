// Dispatches a task: a title, what to do, and what it may cost.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ActDialog } from '../components/act-dialog.tsx'
import { post } from '../data/client.ts'
import { tasksQuery } from '../data/queries.ts'

export function DispatchDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [title, setTitle] = useState('')
  const [brief, setBrief] = useState('')
  const [priority, setPriority] = useState('normal')
  const [budget, setBudget] = useState('')
  const tokens = budget === '' ? undefined : Number(budget.replaceAll(/[ ,_]/g, ''))
  const isBudgetWrong = tokens !== undefined && !(Number.isInteger(tokens) && tokens > 0)
  const isReady = title.trim() !== '' && brief.trim() !== '' && !isBudgetWrong
  const [worker, setWorker] = useState('')
  const workers = useQuery(tasksQuery()).data?.workers ?? []
  const queries = useQueryClient()
  const { mutate, error } = useMutation({
    mutationFn: () =>
      post('tasks', {
        title,
        brief,
        priority,
        ...(tokens !== undefined && { tokens_budget: tokens }),
        ...(worker.trim() !== '' && { worker: worker.trim() }),
      }),
    onSuccess() {
      void queries.invalidateQueries(tasksQuery())
      onClose()
    },
  })
  return (
    <ActDialog
      title="Dispatch a task"
      verb="Dispatch"
      kind="start"
      isReady={isReady}
      error={error}
      onAct={() => mutate()}
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
          Worker
          <input
            className="field"
            value={worker}
            list="dispatch-workers"
            placeholder="any with this repository"
            onChange={(event) => setWorker(event.target.value)}
          />
          <datalist id="dispatch-workers">
            {workers.map(({ worker: name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
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
