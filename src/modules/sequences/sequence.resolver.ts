import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Weighs } from '../../kernel/model/recordMarks.js';
import { Unprocessable } from '../../kernel/model/unprocessable.js';
import { TakesLong } from '../../kernel/operations/operation.js';
import { enroll, unenroll } from './enrollment.enroll.js';
import {
  EnrollInput,
  Enrollment,
  EnrollmentConnection,
  EnrollmentList,
  EnrollResult,
  UnenrollInput,
  UnenrollResult,
} from './enrollment.model.js';
import { pauseEnrollment, resumeEnrollment } from './enrollment.pause.js';
import * as enrollments from './enrollment.service.js';
import { enrollmentTable } from './enrollment.table.js';
import { CreateSequenceInput, Sequence, SequenceConnection, SequenceList, SequenceStats, UpdateSequenceInput } from './sequence.model.js';
import * as sequences from './sequence.service.js';
import { sequenceStats } from './sequence.stats.js';
import { sequenceTable } from './sequence.table.js';

@Resolver(() => Sequence)
@Access({ scope: 'emails' })
export class SequenceResolver {
  @Query(() => SequenceConnection, { description: 'Sequences, newest first unless sorted otherwise' })
  @Reads(sequenceTable)
  sequences(@Ctx() ctx: Context, @Listing() args: SequenceList) {
    return sequences.listSequences(ctx, args);
  }

  @Query(() => Sequence, { nullable: true, description: 'One sequence' })
  @Reads(sequenceTable)
  sequence(@Ctx() ctx: Context, @IdArg() id: string) {
    return sequences.getSequence(ctx, id);
  }

  @Query(() => SequenceStats, { nullable: true, description: 'How a sequence does' })
  @Weighs(50)
  sequenceStats(@Ctx() ctx: Context, @IdArg() id: string) {
    return sequenceStats(ctx, id);
  }

  @FieldResolver(() => SequenceStats, { description: 'How it does' })
  @Weighs(50)
  stats(@Ctx() ctx: Context, @Root() { id }: Sequence) {
    return sequenceStats(ctx, id);
  }

  @Mutation(() => Sequence, { description: 'Makes a sequence' })
  @Unprocessable()
  createSequence(@Ctx() ctx: Context, @In() input: CreateSequenceInput) {
    return sequences.createSequence(ctx, input);
  }

  @Mutation(() => Sequence, { description: 'Changes a sequence: makes it inactive or active again, or gives it other steps' })
  @Unprocessable()
  @TakesLong()
  updateSequence(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateSequenceInput) {
    return sequences.updateSequence(ctx, id, input);
  }

  @Mutation(() => EnrollResult, { description: 'Enrolls contacts in a sequence' })
  @Unprocessable()
  enroll(@Ctx() ctx: Context, @IdArg() id: string, @In() input: EnrollInput) {
    return enroll(ctx, id, input);
  }

  @Mutation(() => UnenrollResult, { description: 'Ends the enrollment of contacts in a sequence' })
  unenroll(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UnenrollInput) {
    return unenroll(ctx, id, input);
  }
}

/** What makes sure of the sequence of an enrollment. */
const OfSequence = () => Arg('sequenceId', () => ID, { nullable: true, description: 'The sequence that the enrollment must be of' });

@Resolver(() => Enrollment)
@Access({ scope: 'emails' })
export class EnrollmentResolver {
  @Query(() => EnrollmentConnection, { description: 'Enrollments of contacts in sequences, newest first unless sorted otherwise' })
  @Reads(enrollmentTable)
  enrollments(@Ctx() ctx: Context, @Listing() args: EnrollmentList) {
    return enrollments.listEnrollments(ctx, args);
  }

  @Query(() => Enrollment, { nullable: true, description: 'One enrollment of a contact in a sequence' })
  @Reads(enrollmentTable)
  enrollment(@Ctx() ctx: Context, @IdArg() id: string) {
    return enrollments.getEnrollment(ctx, id);
  }

  @Query(() => EnrollmentConnection, {
    nullable: true,
    description: 'Enrollments of contacts in one sequence, newest first unless sorted otherwise',
  })
  sequenceEnrollments(@Ctx() ctx: Context, @IdArg() id: string, @Listing() args: EnrollmentList) {
    return sequences.listEnrollmentsOf(ctx, id, args);
  }

  @Mutation(() => Enrollment, { description: 'Pauses the enrollment of a contact in a sequence: no step of it comes until it is resumed' })
  pauseEnrollment(@Ctx() ctx: Context, @IdArg() id: string, @OfSequence() sequenceId?: string) {
    return pauseEnrollment(ctx, id, sequenceId);
  }

  @Mutation(() => Enrollment, {
    description: 'Lets a paused enrollment go on where it stood, what is left of it later by the time of the pause',
  })
  resumeEnrollment(@Ctx() ctx: Context, @IdArg() id: string, @OfSequence() sequenceId?: string) {
    return resumeEnrollment(ctx, id, sequenceId);
  }
}
