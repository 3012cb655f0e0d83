import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // The agents, their chat and the console. `servable dev` serves them.
  server: { proxy: { '/api': 'http://127.0.0.1:3001' } },
})
