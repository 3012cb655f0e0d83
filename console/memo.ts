import { Component, type ComponentChild, type ComponentClass, type FunctionComponent, h } from 'preact'

/** A component that is rendered again only for changed properties. */
export function memo<Props extends object>(view: FunctionComponent<Props>): ComponentClass<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      return (Object.keys(next) as (keyof Props)[]).some(name => next[name] !== this.props[name as never])
    }

    override render(): ComponentChild {
      return h(view, this.props as Props)
    }
  }
}
