/** The console: starts the page. */
import { render } from 'preact'
import { App } from './app.tsx'
import { loadConfig, page } from './service.ts'

render(<App />, page)
void loadConfig()
