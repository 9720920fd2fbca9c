import { useMutation } from '@apollo/client/react';
import { CreatePipelineDocument } from '../generated/client/pages.js';
import { Fault } from './parts.js';
import { useTitle } from './Title.js';
import { useOnce } from './useOnce.js';

/** The usual stages, which may be changed afterwards. */
const stages = [
  { name: 'New', color: '#6B7280' },
  { name: 'Qualified', color: '#2563EB' },
  { name: 'Proposal', color: '#7C3AED' },
  { name: 'Won', color: '#059669', isWon: true },
  { name: 'Lost', color: '#DC2626', isLost: true },
];

/** What a workspace without a pipeline shows. The live list brings what is made here. */
export function FirstPipeline() {
  const [create, { loading, error }] = useMutation(CreatePipelineDocument);
  const send = useOnce();
  useTitle('Deals');
  const variables = { input: { name: 'Sales', stages } };
  const make = () => send(variables, (context) => create({ variables, context }), 'The pipeline').catch(() => {});
  return (
    <main className="nothing">
      <h1>There is no pipeline yet</h1>
      <p className="muted">Deals go from stage to stage: {stages.map(({ name }) => name).join(', ')}.</p>
      <button type="button" disabled={loading} onClick={make}>
        Create a pipeline
      </button>
      <Fault error={error} />
    </main>
  );
}
