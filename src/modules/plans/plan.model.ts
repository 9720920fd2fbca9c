import { oneOf } from '../../kernel/model/fields.js';

export const Plan = oneOf('Plan', ['trial', 'standard', 'premium', 'enterprise'], 'What an account pays for');
