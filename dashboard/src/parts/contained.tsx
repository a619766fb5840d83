// One broken part never blanks the others: what fails while it is drawn is said in its place.
import { Component, type ReactNode } from 'react'
import { Banner } from './days.tsx'

interface ContainedProps {
  readonly what: string
  /** Somewhere else it is tried again. */
  readonly where: string
  readonly children: ReactNode
}

export class Contained extends Component<ContainedProps, { readonly error: Error | null }> {
  override state = { error: null as Error | null }

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  override componentDidUpdate(before: ContainedProps): void {
    if (before.where !== this.props.where && this.state.error !== null) this.setState({ error: null })
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Banner kind="harm" icon="cross" title={`${this.props.what} cannot be drawn: ${error.name}.`}>
        {error.message} The other screens work; loading the page again may help here.
      </Banner>
    )
  }
}
